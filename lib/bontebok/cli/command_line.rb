# frozen_string_literal: true

require_relative "../config/option_table"

module Bontebok
  # Reads argv with the help of OptionTable. Used by CLI. The values stay Strings; Config checks and converts them. An
  # argument can have any bytes, like a file name. Its encoding is set to UTF-8 in every locale.
  #
  # If an option is given several times, the last value counts. For Listen, all values count.
  #
  #   --name VALUE   --name=VALUE   -n VALUE   -nVALUE   --switch   --no-switch   --switch=false   --   RACKUP
  class CommandLine
    ACTIONS = { "--help" => :help, "-h" => :help, "--version" => :version, "-v" => :version, "-V" => :version,
                "--check" => :check }.freeze

    # Flags of puma, unicorn and rackup that mean an option of OptionTable.
    FOREIGN = { "-C" => :config_file, "-e" => :environment, "-b" => :listen, "--bind" => :listen, "-p" => :listen,
                "--port" => :listen, "-P" => :pidfile }.freeze
    # FOREIGN flags whose value is a port of all addresses.
    PORTS = %w[-p --port].freeze
    # FOREIGN flags whose value is an address as puma reads it.
    BINDS = %w[-b --bind].freeze
    # puma's value of -C for "no configuration file".
    NO_FILE = "-"
    # puma's flag for "no access log".
    QUIET = %w[-q --quiet].freeze
    # puma's file for pumactl.
    STATE = %w[-S --state].freeze
    # iodine's flag for a directory with files. It looks like -w with the value ww.
    WWW = "-www"
    FOREIGN_FLAGS = [*FOREIGN.keys, *QUIET, *STATE].freeze
    NO_STATE = "-S has no effect: `bontebok status` shows the state of the server"

    # Options whose relative paths begin in the directory of the start. With the first one, the second one begins there.
    AT_START = %i[directory config_file].freeze

    # The long flags, without those of other servers.
    def self.flags = OptionTable::BY_FLAG.keys + ACTIONS.keys.grep(/\A--/)

    # action: :serve, :check, :help or :version. topic: what --help describes (OptionHelp). values: { key => [text, ...]
    # }. notes: texts for the log. faults: a UsageError for each wrong argument, if the action is :check.
    attr_reader :action, :topic, :values, :notes, :faults

    # Raises UsageError, unless the action is :check.
    def initialize(argv)
      @rest = argv.map { |argument| argument.dup.force_encoding(Encoding::UTF_8) }
      @count = @rest.size
      @indexes = {}
      @action = :serve
      @notes = []
      @faults = []
      @values = Hash.new { |values, key| values[key] = [] }
      note_fault { read_argument(@rest.shift) } until @rest.empty?
      @values.default = nil
      raise UsageError.new(*@faults.map(&:message)) if @faults.any? && @action != :check
    end

    # { index in argv => the relative path at the end of this argument, which begins in the directory of the start }
    def paths_at_start
      key = AT_START.find { |one| @values.key?(one) } or return {}
      path = @values[key].last
      path.start_with?("/", "~") ? {} : { @indexes[key] => path }
    end

    private

    def note_fault
      yield
    rescue UsageError => e
      @faults << e
    end

    def read_argument(argument)
      if argument == "--" then @rest.shift(@rest.size).each { |path| read_rackup(path) }
      elsif ACTIONS.key?(argument) then read_action(ACTIONS.fetch(argument))
      elsif argument.start_with?("--") || argument == WWW then read_long(argument)
      elsif argument.start_with?("-") && argument != "-"
        read_flag(argument[0, 2], (argument[2..] if argument.size > 2))
      else
        read_rackup(argument)
      end
    end

    def read_action(action)
      @action = action
      read_topic(@rest.shift) if action == :help && @rest.any?
    end

    # For `--help --check` and the like, the first page is printed.
    def read_topic(name)
      return if ACTIONS.key?(name)

      require_relative "option_help"
      @topic = foreign(name) || OptionHelp.find(name.scrub) || refuse(name, OptionTable.spellings)
    end

    def read_rackup(path)
      raise UsageError, "only one rackup file can be served, not #{path.inspect} as well" if @values.key?(:rackup)

      @values[:rackup] << path
    end

    def read_long(argument)
      flag, equals, value = argument.partition("=")
      read_flag(flag, (value unless equals.empty?))
    end

    # value: nil if it is not in the same argument.
    def read_flag(flag, value)
      return read_foreign(flag, value) if FOREIGN_FLAGS.include?(flag)

      option = OptionTable::BY_FLAG[flag] || OptionTable::BY_SHORT[flag]
      return store(option, flag, value) if option

      opposite = OptionTable::BY_FLAG[flag.sub("--no-", "--")]
      refuse_flag(flag, value) unless opposite&.switch?
      raise UsageError, "#{flag} takes no value" if value

      store(opposite, flag, "false")
    end

    # The next argument may be the value of the flag. A file that exists is rather the rackup file.
    def refuse_flag(flag, value)
      @rest.shift unless value || @rest.first.to_s.start_with?("-") || File.exist?(@rest.first.to_s)
      refuse(flag, CommandLine.flags)
    end

    # known: the names of which one may be meant.
    def refuse(name, known)
      require_relative "other_servers_flags" # here, so that a server does not load it
      raise UsageError, OtherServersFlags.answer(name, known)
    end

    def read_foreign(flag, value)
      return @values[:access_log] << "" if QUIET.include?(flag)

      value ||= @rest.shift
      return @notes << NO_STATE if STATE.include?(flag)

      store(foreign(flag), flag, value && foreign_value(flag, value))
    end

    def foreign_value(flag, value)
      case flag
      when *PORTS then address(flag, value)
      when *BINDS then Address.bound(value)
      when "-C" then value == NO_FILE ? File::NULL : value
      else value
      end
    end

    def address(flag, port)
      return "*:#{port}" if (0..65_535).cover?(Integer(port, 10, exception: false))

      raise UsageError, "#{flag} wants a port from 0 to 65535, not #{port.inspect}"
    end

    def foreign(flag)
      FOREIGN[flag]&.then { |key| OptionTable[key] }
    end

    def store(option, flag, value)
      value ||= option.switch? ? switch_value : @rest.shift
      raise UsageError, "#{flag} wants a value: #{flag} #{option.type.metavar}" unless value

      @values[option.key] << value
      @indexes[option.key] = @count - @rest.size - 1
    end

    # The next argument belongs to the switch only if it is true or false. So `--reuse-port config.ru` serves config.ru.
    def switch_value
      %w[true false].include?(@rest.first) ? @rest.shift : "true"
    end
  end
end
