# frozen_string_literal: true

require_relative "../system/file_name"
require_relative "hooks"
require_relative "../usage_error"
require_relative "../system/working_directory"

module Bontebok
  # Reads a configuration file. It is Ruby; what the methods mean that it calls is a matter of its style (ConfigStyles),
  # whose directives note here what they were told.
  class ConfigFile
    # A value as it was written, and "path:line" of it.
    Entry = Struct.new(:value, :place)

    LONGEST_MESSAGE = 200

    # entries: { key of an option => Entry }. warnings: texts for the log.
    attr_reader :entries, :hooks, :warnings

    # Raises StartError when the file cannot be read, UsageError for what is wrong in it.
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

    # The file, or one that it loads with its own style's word for that.
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

    # The last one holds; nil takes back what was said.
    def set(key, value)
      value.nil? ? @entries.delete(key) : @entries[key] = Entry.new(value, place)
    end

    # They add up; nil says nothing.
    def add(key, *values)
      values = values.compact
      (@entries[key] ||= Entry.new([], place)).value.concat(values) unless values.empty?
    end

    # What was set so far.
    def [](key)
      @entries[key]&.value
    end

    # They add up, unless alone. directive: what the file calls it. The block: see Hooks#add.
    def add_hook(name, hook, directive: name, alone: false, &arguments)
      refuse("#{directive} wants a block") unless hook.respond_to?(:call)

      alone ? @hooks.replace(name, hook, &arguments) : @hooks.add(name, hook, &arguments)
    end

    # At once, for what follows in the file; what only sets :directory means the end of the file.
    def enter(path)
      set(:directory, path && FileName.absolute(path))
      enter_directory
    end

    def refuse(message)
      raise UsageError, "#{place}: #{message}"
    end

    # A misspelt directive is no trifle; one that another server knows and this one does not may be. advice: what to do
    # instead, in a few words.
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

    # The line of the file that is being evaluated.
    def place(locations = caller_locations)
      frame = locations&.find { |location| @paths.include?(location.path) }
      frame ? "#{frame.path}:#{frame.lineno}" : @paths.last
    end

    # In one line, whatever was raised. Ruby's message about the file's own syntax has the place already.
    def fault(exception)
      text = first_line(exception)
      return text if exception.is_a?(SyntaxError) && text.start_with?("#{@paths.last}:")

      named = text.empty? || text == exception.class.name ? exception.class : "#{text} (#{exception.class})"
      "#{place(exception.backtrace_locations)}: #{named}"
    end

    # A message may be empty, endless, no text, or raise.
    def first_line(exception)
      text = exception.message.to_s
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub.strip.lines(chomp: true).first.to_s
      text.size > LONGEST_MESSAGE ? "#{text[0, LONGEST_MESSAGE]}..." : text
    rescue StandardError
      ""
    end

    # Read as UTF-8 whatever the locale says.
    def source(path)
      File.read(path, encoding: "bom|utf-8")
    rescue SystemCallError => e
      raise StartError, "cannot read the configuration file #{path}: #{SystemCallError.new(nil, e.errno).message}"
    end
  end
end

# Out here, where the file's constants are looked up: inside, Config and Log would be ours and not the application's.
def (Bontebok::ConfigFile).evaluate(directives, *text_and_path)
  directives.instance_eval(*text_and_path, 1)
end
