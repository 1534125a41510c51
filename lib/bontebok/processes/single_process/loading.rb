# frozen_string_literal: true

require_relative "../../workers/release"

module Bontebok
  class SingleProcess
    # The part of SingleProcess that loads the application.
    module Loading
      private

      # While the application loads, a signal to stop ends the process at once. A second thread handles the signals,
      # because the application could rescue an exception in the main thread. The second thread is not killed, because
      # it may be handling a signal. It ends by itself when the application is loaded.
      def load_release
        watch = Thread.new { obey_while_loading until @loaded }
        Release.load(@config, @log)
      ensure
        @loaded = true
        @events.push(:loaded)
        watch&.join
        @events.claim(*self.class::SIGNALS)
      end

      def obey_while_loading
        tick_service
        @events.to_io.wait_readable(@service.step)
        @events.take.each do |event|
          case event
          when "TERM", "QUIT", "INT" then end_while_loading
          when "HUP" then hang_up_while_loading
          else handle(event)
          end
        end
      end

      def hang_up_while_loading
        return end_while_loading if terminal_closed? || @config[:signal_hup] == "stop"

        watch_terminal
        reopen
      end

      # After a deploy, the sockets have files already.
      def end_while_loading
        @log.info("stopped")
      ensure
        end_now(0)
      end
    end
  end
end
