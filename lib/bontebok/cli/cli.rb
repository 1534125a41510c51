# frozen_string_literal: true

require_relative "../start_failure"
require_relative "../system/encodings/output"
require_relative "../usage_error"
require_relative "../version"

# Puma and unicorn have loaded these libraries before the application, so applications use them without a `require`.
autoload :FileUtils, "fileutils"
autoload :IPAddr, "ipaddr"

module Bontebok
  # The command `bontebok`. exe/bontebok calls this class, which turns argv into an action and an exit status.
  class CLI
    # The commands for a running server (ControlCommand).
    COMMANDS = %w[deploy rollback stop reopen restart-workers workers drain resume status top].freeze

    # Commands that are flags here.
    WORDS = %w[help version].freeze
    # Commands of other servers, and what to type instead.
    START = "`bontebok` starts the server"
    RESTART = "`bontebok deploy` loads new code, `bontebok restart-workers` replaces the workers"
    ADVICE = { "start" => START, "server" => START, "serve" => START, "restart" => RESTART, "reload" => RESTART,
               "phased-restart" => RESTART, "halt" => "`bontebok stop --now` stops the server at once" }.freeze
    # Words that are no names of a rackup file, because later versions may have commands with these names.
    RESERVED = %w[threads routes watch stats admin].freeze

    # Returns the exit status.
    def self.run(argv)
      new(argv).run
    end

    def initialize(argv)
      @argv = spelled(argv)
    end

    def run
      StartFailure.told do
        case @argv.first
        when "bench" then bench
        when *COMMANDS then control
        when "completion" then complete
        when *ADVICE.keys then advise
        when *RESERVED then refuse
        else act
        end
      end
    end

    private

    # The word may also be the name of a rackup file.
    def spelled(argv)
      word, topic = argv
      return [topic, "--help"] if asks_about_command?(word, topic)

      WORDS.include?(word) && !File.exist?(word) ? ["--#{word}", *argv.drop(1)] : argv
    end

    # `workers` is also an option: --help describes the option, and help the command.
    def asks_about_command?(word, topic)
      case word
      when "help" then [*COMMANDS, "bench"].include?(topic) && !File.exist?(word)
      when "--help", "-h" then [*COMMANDS, "bench"].include?(topic) && !option?(topic)
      end
    end

    def option?(name)
      load("command_line")
      OptionTable.find(name)
    end

    def act
      load("command_line")
      command_line = CommandLine.new(@argv)
      case command_line.action
      when :help then help(command_line.topic)
      when :version then Output.show("bontebok #{VERSION}\n")
      when :check then check(command_line)
      else serve(command_line)
      end
    end

    def help(topic)
      load("option_help")
      Output.show(OptionHelp.of(topic))
    end

    def bench
      load("bench_program")
      BenchProgram.new.run(@argv.drop(1))
    end

    def complete
      load("completion")
      Output.show(Completion.script(@argv[1]))
    end

    # The word may also be the name of a rackup file.
    def advise
      return act if File.exist?(@argv.first)

      raise UsageError, "there is no command #{@argv.first}: #{ADVICE.fetch(@argv.first)}"
    end

    def refuse
      word = @argv.first
      raise UsageError, "there is no command stats: `bontebok status --json` shows the numbers" if word == "stats"

      raise UsageError, "unknown command #{word}, see bontebok --help#{"; ./#{word} is a file" if File.exist?(word)}"
    end

    def control
      load("control_command")
      ControlCommand.new(@argv).run
    end

    def check(command_line)
      load("check")
      LogFiles.discard_unread
      Check.new(command_line.values, notes: command_line.notes, faults: command_line.faults).run
    end

    def serve(command_line)
      load("serve_command")
      ServeCommand.new(@argv, command_line).run
    end

    # Only the files of one command are loaded. Nearly all that they allocate stays. After Bundler's setup, the
    # collections would take a twentieth of the CPU time of a start and stop.
    def load(file)
      disabled = GC.disable
      require_relative file
    ensure
      GC.enable unless disabled
    end
  end
end
