# frozen_string_literal: true

require_relative "../config/option_table"

module Bontebok
  # Reads argv by OptionTable. The result is what was written, not yet checked: Config makes values of it. Arguments may
  # be any bytes, as file names are; as text they are UTF-8, whatever the locale says.
  #
  # Of an option that is given several times the last one holds.
  #
  #   --name VALUE   --name=VALUE   -n VALUE   -nVALUE   --switch   --no-switch   --switch=false   --   RACKUP
  class CommandLine
    ACTIONS = { "--help" => :help, "-h" => :help, "--version" => :version, "-v" => :version,
                "--check" => :check }.freeze

    # What other servers have, and no service manager needs.
    DAEMON = %w[-D --daemonize].freeze
    FOREGROUND = "the server stays in the foreground; what puts it into the background, starts it again and keeps " \
                 "its log is a service manager: docs/DEPLOYMENT.md shows it under systemd"

    # What unicorn, puma and rackup call them.
    ELSEWHERE = { "-p" => "-l PORT", "--port" => "-l PORT", "-o" => "-l HOST:PORT", "--host" => "-l HOST:PORT",
                  "-b" => "-l ADDR", "--bind" => "-l ADDR", "-C" => "-c FILE", "-e" => "-E ENV" }.freeze

    # action: :serve, :check, :help or :version. values: { key => [what was written, ...] }.
    attr_reader :action, :values

    # Raises UsageError.
    def initialize(argv)
      @rest = argv.map { |argument| argument.dup.force_encoding(Encoding::UTF_8) }
      @action = :serve
      @values = Hash.new { |values, key| values[key] = [] }
      read_argument(@rest.shift) until @rest.empty?
      @values.default = nil
    end

    private

    def read_argument(argument)
      if argument == "--" then @rest.shift(@rest.size).each { |path| read_rackup(path) }
      elsif ACTIONS.key?(argument) then @action = ACTIONS.fetch(argument)
      elsif argument.start_with?("--") then read_flag(argument)
      elsif argument.start_with?("-") && argument != "-" then read_short(argument[0, 2], argument[2..])
      else
        read_rackup(argument)
      end
    end

    def read_rackup(path)
      raise UsageError, "only one rackup file can be served, not #{path.inspect} as well" if @values.key?(:rackup)

      @values[:rackup] << path
    end

    def read_flag(argument)
      flag, equals, value = argument.partition("=")
      value = nil if equals.empty?
      option = OptionTable::BY_FLAG[flag]
      return store(option, flag, value) if option

      opposite = OptionTable::BY_FLAG[flag.sub("--no-", "--")]
      raise UsageError, unknown(flag) unless opposite&.switch?
      raise UsageError, "#{flag} takes no value" if value

      store(opposite, flag, "false")
    end

    def read_short(flag, value)
      option = OptionTable::BY_SHORT[flag] or raise UsageError, unknown(flag)
      store(option, flag, value.empty? ? nil : value)
    end

    def store(option, flag, value)
      value ||= option.switch? ? switch_value : @rest.shift
      raise UsageError, "#{flag} wants a value: #{flag} #{option.type.metavar}" unless value

      @values[option.key] << value
    end

    # A word is a switch's value only if it can be nothing else, so that `--reuse-port config.ru` serves config.ru.
    def switch_value
      %w[true false].include?(@rest.first) ? @rest.shift : "true"
    end

    def unknown(flag)
      return "#{flag}: #{FOREGROUND}" if DAEMON.include?(flag)

      flag = flag.scrub
      near = ELSEWHERE[flag]
      near ||= DidYouMean::SpellChecker.new(dictionary: known_flags).correct(flag).first if defined?(DidYouMean)
      "unknown option #{flag}. #{near ? "Did you mean #{near}?" : 'See bontebok --help.'}"
    end

    def known_flags
      OptionTable::BY_FLAG.keys + ACTIONS.keys.grep(/\A--/)
    end
  end
end
