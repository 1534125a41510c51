# frozen_string_literal: true

require_relative "../../system/terminal"

module Bontebok
  # The effect of HUP. A closed terminal stops the server of a developer. Otherwise SignalHup decides. Supervisor and
  # SingleProcess include this module. They have #reopen, the effect of SignalHup reopen, and set @terminal.
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

    def end_with_terminal
      return if stops?

      @log.info("the terminal is closed")
      handle("TERM")
    end
  end
end
