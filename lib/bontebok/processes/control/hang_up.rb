# frozen_string_literal: true

require_relative "../../system/terminal"

module Bontebok
  # The effect of HUP. A closed terminal stops the server of a developer. Otherwise signal_hup decides. Used by
  # Supervisor and SingleProcess.
  class HangUp
    # stop: the Stop. again: called in another thread to give HUP again. The block is the effect of signal_hup reopen.
    def initialize(effective, commands:, stop:, again:, log:, &reopen)
      @effective = effective
      @commands = commands
      @stop = stop
      @again = again
      @log = log
      @reopen = reopen
      @terminal = Terminal.new
      commands.on("HUP") { obey }
    end

    # Called while the application loads. The block ends the server.
    def obey_while_loading
      return yield if terminal_closed? || config[:signal_hup] == "stop"

      watch_terminal
      @reopen.call
    end

    private

    def config = @effective.config

    def obey
      return @stop.skip_delay("the terminal is closed") if terminal_closed?

      watch_terminal
      case config[:signal_hup]
      when "stop" then @commands.give("TERM")
      when "deploy" then @commands.give("USR2", "HUP")
      else @reopen.call
      end
    end

    def terminal_closed?
      config.interactive? && @terminal.closed?
    end

    def watch_terminal
      @terminal.watch(&@again) if config.interactive?
    end
  end
end
