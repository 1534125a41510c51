# frozen_string_literal: true

require_relative "../system/encodings/source_file"
require_relative "../system/error_text"
require_relative "../system/file_name"
require_relative "directive_faults"
require_relative "hooks"
require_relative "option_table"
require_relative "../usage_error"
require_relative "../system/working_directory"

module Bontebok
  # Reads a configuration file, which is Ruby code. Used by Config. The style of the file (ConfigStyles) defines the
  # directives, which are the methods that the file may call. The directives store their values in the ConfigFile.
  class ConfigFile
    # A value as it is written, and its "path:line". places: the place of each value of a list.
    Entry = Struct.new(:value, :place, :places)

    # entries: { key of an option => Entry }. companions: see Config#companions. warnings: texts for the log.
    # workers, env: see #initialize.
    attr_reader :entries, :companions, :hooks, :warnings, :workers, :env

    # workers: max_workers as the command line has it, or nil. env: the variables of the environment. Raises StartError
    # if the file cannot be read, and UsageError for a fault in it. faults: a callable that runs a block and notes its
    # StartError.
    def initialize(path, style:, workers: nil, env: ENV, faults: ->(&step) { step.call })
      @workers = workers
      @env = env
      @paths = []
      @entries = {}
      @companions = []
      @hooks = Hooks.new
      @warnings = []
      @at_end = []
      @directives = style.new(self)
      at_end = DirectiveFaults.note(@directives) { |&directive| faults.call { tell_faults(&directive) } }
      [-> { evaluate(path) }, -> { tell_faults { run_at_end } }].each { |step| faults.call(&step) }
      at_end.call
      @read = true
      faults.call { enter_directory }
    end

    # Evaluates the configuration file, or a file that the configuration file loads (puma's directive `load`).
    def evaluate(path)
      text = source(path)
      @paths.push(path)
      tell_faults { ConfigFile.evaluate(@directives, text, path) }
    end

    # ---- for directives ----

    # Sets an option. The last call for an option wins. nil: the option counts as not set.
    def set(key, value)
      nil.equal?(value) ? @entries.delete(key) : @entries[key] = Entry.new(value, place)
    end

    # Adds values to an option that is a list. nil is ignored.
    def add(key, *values)
      values = values.compact
      return if values.empty?

      entry = (@entries[key] ||= Entry.new([], place, []))
      entry.value.concat(values)
      entry.places&.concat([place] * values.size)
    end

    # The value so far, or nil.
    def [](key)
      @entries[key]&.value
    end

    # This server has one socket_mode for all unix sockets. The mode has only the permissions that every directive of
    # the file allows.
    def restrict_socket(umask)
      set(:socket_mode, (self[:socket_mode] || 0o777) & ~umask)
    end

    # Adds a hook. directive: the hook's name in the file. alone: the hook replaces the earlier hooks with this name in
    # the file. For the block see Hooks#add.
    def add_hook(name, hook, directive: name, alone: false, &arguments)
      refuse("#{directive} wants a block") unless hook.respond_to?(:call)

      @hooks.remove(name, directive) if alone
      @hooks.add(name, hook, directive: directive, &arguments)
    end

    # The block is called at the end of the file. Its faults have the place of this call.
    def at_end(&block)
      @at_end << [place, block]
    end

    # Sets :directory and changes the working directory at once. With `set(:directory, path)`, the working directory
    # changes only at the end of the file.
    def enter(path)
      set(:directory, nil.equal?(path) ? nil : FileName.absolute(OptionTable[:directory].read(path, place)))
      enter_directory
    end

    def refuse(message)
      raise UsageError, "#{place}: #{message}"
    end

    # If another program passes listeners to the server, no address is opened, whatever sets it.
    def only_passed_listeners(only)
      @only_passed_listeners = only
    end

    def only_passed_listeners?
      @only_passed_listeners
    end

    # Whether the file is read to its end. After that, only its hooks run.
    def read?
      @read
    end

    # hint: what the user may have meant, or nil. Raises UsageError.
    def unknown(directive, hint = nil)
      refuse("unknown option #{directive}#{" (#{hint})" if hint}")
    end

    # Notes that a directive has no effect. advice: what to do instead.
    def advise(directive, advice)
      @warnings << "#{place}: #{directive} has no effect: #{advice}"
      nil
    end

    private

    # Any exception of the block, which runs code of the file, becomes a UsageError with file and line.
    def tell_faults
      yield
    rescue StartError, SignalException
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException
      raise UsageError, fault(e)
    end

    def run_at_end
      @at_end.each { |place, block| (@place_of_block = place) && block.call }
    end

    def enter_directory
      entry = @entries[:directory] or return
      WorkingDirectory.enter(OptionTable[:directory].read(entry.value, entry.place), entry.place)
    end

    # "path:line" of the line that is evaluated.
    def place(locations = caller_locations)
      frame = locations&.find { |location| @paths.include?(location.path) }
      frame ? "#{frame.path}:#{frame.lineno}" : @place_of_block || @paths.last
    end

    # Describes any exception in one line. Ruby's message about a syntax error in the file begins with "path:line"
    # already, and since Ruby 3.4 its message about a magic comment, too.
    def fault(exception)
      text = ErrorText.first_line(exception)
      return text if text.start_with?("#{@paths.last}:")

      "#{place_of(exception)}: #{ErrorText.line(exception)}"
    end

    # An exception that was raised with a backtrace has no locations. If Ruby rejects the magic comment, the backtrace
    # begins with "path:line" alone.
    def place_of(exception)
      locations = exception.backtrace_locations
      locations ? place(locations) : exception.backtrace.to_a.first.to_s[/\A.+:\d+(?=:in |\z)/] || @paths.last
    end

    # A file that another file loads may be missing: the message names the line that loads it.
    def source(path)
      SourceFile.read(path)
    rescue SystemCallError => e
      text = ErrorText.of(e)
      raise StartError, "#{"#{place}: " if @paths.any?}cannot read the configuration file #{path}: #{text}"
    rescue ArgumentError => e # another encoding
      raise UsageError, "#{path}:1: #{e.message}"
    end
  end
end

# This method is outside the module, because Ruby looks up the file's constants where the method is defined. Inside the
# module, the names Config and Log in a file would mean Bontebok::Config and Bontebok::Log.
def (Bontebok::ConfigFile).evaluate(directives, *text_and_path)
  directives.instance_eval(*text_and_path, 1)
end
