# frozen_string_literal: true

require_relative "../../system/terminal"

module Bontebok
  # The effect of HUP. A closed terminal stops the server of a developer. Otherwise signal_hup decides. Supervisor and
  # SingleProcess include this module. They have #reopen, the effect of signal_hup reopen. They set @terminal and
  # @drain_delay.
  module HangUp
    private

    def hang_up
      return end_with_terminal if terminal_closed?

      watch_terminal
      case @config[:signal_hup]
      when "stop" then handle("TERM")
      when "deploy" then deploy("SIGHUP")
      else reopen
      end
    end

    def terminal_closed?
      @config.interactive? && @terminal.closed?
    end

    def watch_terminal
      @terminal.watch { @events.push("HUP") } if @config.interactive?
    end

    # drain_delay does not apply, because the developer may start the next server in another terminal.
    def end_with_terminal
      return if ends? || @departure

      @log.info("the terminal is closed")
      @drain_delay.skip
    end
  end
end
