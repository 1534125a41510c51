# frozen_string_literal: true

require_relative "../../system/clock"
require_relative "../../start_error"
require_relative "../../start_failure"
require_relative "../start_lines"

module Bontebok
  class Supervisor
    # The part of Supervisor for the server's first start. When the workers have loaded the application, the sockets
    # begin to listen. When the workers are ready, the log says so. The start fails if no worker is loaded, or if no
    # worker becomes ready.
    module FirstStart
      private

      def begin_start
        @steps = %i[loaded ready]
        @began = Clock.now
      end

      def follow_start
        return if @stop.ends? || @steps.empty? || !@masters.settled?(@steps.first)
        return fail_to_start unless @masters.any?(@steps.first)

        @steps.shift == :loaded ? begin_to_listen : note_ready
      end

      def note_ready
        @listeners.worker_links.totals.started
        @control.open if @control.beside_another?
        @listeners.own
        @control.finish_deploy
        StartLines.write_ready(@log, @config, @listeners, @began)
        grow_at_start
        StartFailure.close
        @log.dismiss_witness
      end

      def fail_to_start
        @failed = true
        stop(:quit)
      end

      def begin_to_listen
        @listeners.listen
        StartLines.write(@log, @config, @listeners)
        @control.open unless @control.beside_another?
        @masters.go
      rescue StartError => e
        @error = e
        stop(:quit)
      end
    end
  end
end
