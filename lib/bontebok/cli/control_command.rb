# frozen_string_literal: true

require_relative "command_line"
require_relative "server_search"
require_relative "../status/plain_text"
require_relative "../system/deadline"
require_relative "../usage_error"

module Bontebok
  # The commands for a running server: `bontebok deploy` and so on. CLI runs them. The path of the control socket comes
  # from the same options and the same configuration file as the server's.
  class ControlCommand
    # Values of --format: see StatusCommand.
    FORMATS = %w[text json csv puma mackerel].freeze
    FORM = { "--json" => ["json", true], "--csv" => ["csv", true],
             "--format" => ["format", /\A(?:#{FORMATS.join('|')})\z/] }.freeze
    # { command => { flag => [key of the request, true, or the pattern of the flag's value] } }. Flags are written as
    # the server's options: --flag, --flag VALUE or --flag=VALUE.
    COMMANDS = {
      "deploy" => { "--wait" => ["wait", true], "--supersede" => ["supersede", true],
                    "--supervisor" => ["supervisor", true],
                    "--canary" => ["canary", /\A[1-9]\d{0,3}\z/], "--for" => ["for", OptionTypes::Duration::PATTERN],
                    "--max-errors" => ["max_errors", /\A\d{1,3}(?:\.\d+)?%\z/] },
      "rollback" => { "--wait" => ["wait", true], "--supersede" => ["supersede", true] },
      "stop" => { "--now" => ["now", true], "--wait" => ["wait", true] },
      "reopen" => {},
      "restart-workers" => { "--slowly" => ["slowly", true] },
      "workers" => {},
      "drain" => {},
      "resume" => {},
      "status" => { **FORM, "--follow" => ["follow", true] },
      "top" => FORM
    }.freeze
    EXAMPLE = "bontebok deploy --canary 1 --for 60s --max-errors 1%"
    EXAMPLES = { "--format" => "bontebok status --format #{FORMATS.join('|')}" }.freeze

    HELP = <<~TEXT
      Usage: bontebok COMMAND [options]

        deploy [--wait] [--supersede]    Load new code, gems and configuration; the old workers serve meanwhile
               [--canary N --for TIME --max-errors PERCENT]
                                         Start N new workers first, and compare them with the old ones
        deploy --supervisor              Execute the server's start command in the supervisor; the workers stay
        rollback [--wait] [--supersede]  Let the former release serve again (keep_former)
        stop [--now] [--wait]            Stop the server
        reopen                           Open the log files again
        restart-workers [--slowly]       Replace the workers, without new code
        workers N|+N|-N                  Change the number of workers
        drain, resume                    Let ready_path respond with 503, and with 200 again
        status [--follow] [--json|--csv|--format FORMAT]
                                         Show what the server and its workers do, the worst first; --follow: again and
                                         again. FORMAT is text, json, csv, puma or mackerel
        top                              As status --follow

      --wait ends when the new workers serve, or when the server has ended. --supersede replaces a deploy that is in
      progress. --control FILE names the server's control socket. Without it, the command reads the server's
      configuration file; -c, --directory and the other options of the server are allowed.

      Exit status: 0 done, 1 failed, 2 wrong usage, 3 another deploy is in progress, 4 the canary had too many errors,
      5 the canary got fewer than 200 requests.
    TEXT

    # Raises UsageError.
    def initialize(argv)
      @command, *rest = argv
      @help = rest.intersect?(%w[-h --help])
      return if @help

      @request = { "command" => @command, **flags(rest) }
      @request["number"] = number(rest) if @command == "workers"
      check_canary if @command == "deploy"
      read_canary if @request["canary"]
      @values = CommandLine.new(rest).values
    end

    # Returns the exit status. Raises UsageError or StartError.
    def run
      return Output.show(HELP) if @help

      %w[status top].include?(@command) ? observe : ask
    end

    private

    # Removes the flags of the command from the arguments. Returns a part of the request.
    def flags(rest)
      COMMANDS.fetch(@command).each_with_object({}) do |(flag, (key, pattern)), request|
        while (place = rest.index { |argument| argument == flag || argument.start_with?("#{flag}=") })
          value = rest.delete_at(place).byteslice((flag.bytesize + 1)..)
          raise UsageError, "#{flag} takes no value" if value && pattern == true

          request[key] = pattern == true || value_of(flag, pattern, value || rest.delete_at(place).to_s)
        end
      end
    end

    def value_of(flag, pattern, value)
      return value if pattern.match?(value.b)

      example = EXAMPLES.fetch(flag, EXAMPLE)
      raise UsageError, "#{flag} wants another value than #{value.inspect}: #{example}"
    end

    def check_canary
      alone = (%w[for max_errors] & @request.keys).first unless @request["canary"]
      raise UsageError, "--#{alone.tr('_', '-')} needs --canary: #{EXAMPLE}" if alone
      raise UsageError, "--canary and --supervisor exclude each other" if @request["canary"] && @request["supervisor"]
    end

    # The result of a canary is only known at its end, so the command waits.
    def read_canary
      @request = { "for" => "60s", "max_errors" => "1%" }.merge(@request, "wait" => true)
      @request["canary"] = @request["canary"].to_i
      @request["for"] = OptionValues::DURATION.read(@request["for"]).fdiv(1000)
      @request["max_errors"] = @request["max_errors"].to_f / 100
    rescue OptionTypes::Invalid => e
      raise UsageError, "--for wants #{e.message}"
    end

    def number(rest)
      place = rest.index { |argument| argument.b.match?(/\A[+-]?\d+\z/) }
      place ? rest.delete_at(place) : raise(UsageError, "bontebok workers wants a number: N, +N or -N")
    end

    def observe
      forms = [*("json" if @request["json"]), *("csv" if @request["csv"]), *@request["format"]]
      raise UsageError, "only one of --json, --csv and --format is possible" if forms.size > 1

      require_relative "../system/extension"
      Extension.load
      require_relative "status/status_command"
      follow = @request["follow"] || @command == "top"
      StatusCommand.new(forms.first || "text", follow: follow, &method(:connection)).run
    end

    def ask
      status = nil
      lines = progress_lines
      connection.ask(@request, idle: lines&.method(:draw)) do |message|
        status = message["status"]
        status ? lines&.draw : lines&.erase
        show(message)
      end
      status || server_ended
    end

    # nil: no progress is shown.
    def progress_lines
      return unless @request["wait"] && %w[deploy rollback].include?(@command) && $stdout.tty?

      require_relative "progress_lines"
      ProgressLines.new($stdout) { server_status }
    end

    def server_status
      status = nil
      connection.ask({ "command" => "status" }) { |message| status = message["server"] }
      status
    rescue StartError
      nil # the control socket moves, or the server has ended
    end

    # An application may have written the texts.
    def show(message)
      log, text = message.values_at("log", "text").map { |value| Status::PlainText.lines(value.to_s) if value }
      Output.show(log, $stderr) if log
      return unless text

      message["status"].to_i.zero? ? Output.show("#{text}\n") : Output.show("bontebok: #{text}\n", $stderr)
    end

    def server_ended
      return 0 if @command == "stop"

      raise StartError, "the server has ended"
    end

    # With --control, the configuration file is not read, because a new release can have an error in it.
    def connection(deadline = Deadline.new(ControlConnection::PATIENCE))
      written = @values[:control]
      return ServerSearch.connect(OptionTable[:control].read(written.last, "command line"), deadline) if written

      require_relative "../config/config"
      ServerSearch.new(Config.new(@values)).connection(deadline)
    end
  end
end
