# frozen_string_literal: true

require "io/wait"

module Bontebok
  class SingleProcess
    # Obeys signals while the application loads. A signal to stop ends the process at once. A second thread does this,
    # because the application could rescue an exception in the main thread. The second thread is not killed, because it
    # may be handling a signal. It ends by itself when the application is loaded.
    class LoadWatch
      # signals: of the SignalQueue. The block ends the process.
      def initialize(events, signals, commands, hang_up, service, &stop)
        @events = events
        @signals = signals
        @commands = commands
        @hang_up = hang_up
        @service = service
        @stop = stop
      end

      # Returns the result of the block, which loads the application.
      def run
        watch = Thread.new { obey until @loaded }
        yield
      ensure
        @loaded = true
        @events.push(:loaded)
        watch&.join
        @events.claim(*@signals)
      end

      private

      def obey
        @service.tick
        @events.to_io.wait_readable(@service.step)
        @events.take.each do |event|
          case event
          when "TERM", "QUIT", "INT" then @stop.call
          when "HUP" then @hang_up.obey_while_loading(&@stop)
          else @commands.give(event)
          end
        end
      end
    end
  end
end
