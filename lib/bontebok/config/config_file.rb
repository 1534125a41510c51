# frozen_string_literal: true

require_relative "../system/file_name"
require_relative "hooks"
require_relative "../usage_error"
require_relative "../system/working_directory"

module Bontebok
  # Reads a configuration file, for Config. The file is Ruby. Its style (ConfigStyles) defines the directives, which are
  # the methods that the file may call. They store their values here.
  class ConfigFile
    # A value as it is written, and its "path:line".
    Entry = Struct.new(:value, :place)

    LONGEST_MESSAGE = 200

    # entries: { key of an option => Entry }. warnings: texts for the log.
    attr_reader :entries, :hooks, :warnings

    # Raises StartError if the file cannot be read, and UsageError for a fault in it.
    def initialize(path, style:, ignore_unknown: false)
      @paths = []
      @ignore_unknown = ignore_unknown
      @entries = {}
      @hooks = Hooks.new
      @warnings = []
      @directives = style.new(self)
      evaluate(path)
      enter_directory
    end

    # Evaluates the file, or a file that a directive of its style loads.
    def evaluate(path)
      text = source(path)
      @paths.push(path)
      ConfigFile.evaluate(@directives, text, path)
    rescue StartError, SignalException
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException
      raise UsageError, fault(e)
    end

    # ---- for directives ----

    # The last value holds. nil: the option is not set.
    def set(key, value)
      value.nil? ? @entries.delete(key) : @entries[key] = Entry.new(value, place)
    end

    # The values add up. nil is ignored.
    def add(key, *values)
      values = values.compact
      (@entries[key] ||= Entry.new([], place)).value.concat(values) unless values.empty?
    end

    # The value so far, or nil.
    def [](key)
      @entries[key]&.value
    end

    # Hooks of the same name add up. alone: the hook replaces the earlier ones. directive: the name in the file. For the
    # block see Hooks#add.
    def add_hook(name, hook, directive: name, alone: false, &arguments)
      refuse("#{directive} wants a block") unless hook.respond_to?(:call)

      alone ? @hooks.replace(name, hook, &arguments) : @hooks.add(name, hook, &arguments)
    end

    # Enters the directory now, for the rest of the file. A directive that only sets :directory takes effect at the end
    # of the file.
    def enter(path)
      set(:directory, path && FileName.absolute(path))
      enter_directory
    end

    def refuse(message)
      raise UsageError, "#{place}: #{message}"
    end

    # Raises UsageError, as the directive may be misspelt. With ignore_unknown it is a warning: another server may have
    # the directive. advice: what to do instead, in a few words.
    def unknown(directive, advice = nil)
      unless @ignore_unknown
        refuse("unknown option #{directive}#{" (#{advice})" if advice}; --ignore-unknown goes on without it")
      end

      @warnings << "#{place}: unknown option #{directive} is ignored"
      nil
    end

    private

    def enter_directory
      entry = @entries[:directory]
      WorkingDirectory.enter(entry.value, entry.place) if entry
    end

    # "path:line" of the line that is evaluated.
    def place(locations = caller_locations)
      frame = locations&.find { |location| @paths.include?(location.path) }
      frame ? "#{frame.path}:#{frame.lineno}" : @paths.last
    end

    # One line for any exception. Ruby's message about a syntax error in the file has the place already.
    def fault(exception)
      text = first_line(exception)
      return text if exception.is_a?(SyntaxError) && text.start_with?("#{@paths.last}:")

      named = text.empty? || text == exception.class.name ? exception.class : "#{text} (#{exception.class})"
      "#{place(exception.backtrace_locations)}: #{named}"
    end

    # A message may be empty, very long or not a valid text, and the method may raise.
    def first_line(exception)
      text = exception.message.to_s
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub.strip.lines(chomp: true).first.to_s
      text.size > LONGEST_MESSAGE ? "#{text[0, LONGEST_MESSAGE]}..." : text
    rescue StandardError
      ""
    end

    # The file is UTF-8, whatever the locale is.
    def source(path)
      File.read(path, encoding: "bom|utf-8")
    rescue SystemCallError => e
      raise StartError, "cannot read the configuration file #{path}: #{SystemCallError.new(nil, e.errno).message}"
    end
  end
end

# This method is outside the module, because Ruby looks up the file's constants where the method is defined. In the
# module, Config and Log would be Bontebok's and not the application's.
def (Bontebok::ConfigFile).evaluate(directives, *text_and_path)
  directives.instance_eval(*text_and_path, 1)
end
