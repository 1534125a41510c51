# frozen_string_literal: true

require_relative "../../start_error"
require_relative "../../start_failure"
require_relative "../start_lines"

module Bontebok
  class Supervisor
    # The server's first start. When the workers have loaded the application, the sockets begin to listen. When the
    # workers are ready, the log says so. The start fails if no worker is loaded, or if no worker becomes ready.
    class FirstStart
      # The StartError because of which the sockets do not listen, or nil.
      attr_reader :error

      # masters: the Generations. began: when the server began to start (Clock). The block is called when the start has
      # failed, and stops the server.
      def initialize(deploys, masters, growth, control:, stop:, log:, began:, &fail)
        @deploys = deploys
        @masters = masters
        @growth = growth
        @control = control
        @stop = stop
        @log = log
        @began = began
        @fail = fail
        @steps = %i[loaded ready]
      end

      # The server serves already: this program has taken the place of another one.
      def skip = @steps.clear

      def under_way? = @steps.any?

      def failed? = @failed

      def tick
        return if @stop.ends? || !under_way? || !@masters.settled?(@steps.first)
        return fail_to_start unless @masters.any?(@steps.first)

        @steps.shift == :loaded ? begin_to_listen : note_ready
      end

      # The next #tick has no time: it follows what a master says.
      def deadline = nil

      private

      def config = @deploys.serving.config

      def listeners = @deploys.serving.listeners

      def begin_to_listen
        listeners.listen
        StartLines.write(@log, config, listeners)
        @control.open unless @control.beside_another?
        @masters.go
      rescue StartError => e
        @error = e
        fail_to_start
      end

      def note_ready
        listeners.worker_links.totals.started
        @control.open if @control.beside_another?
        listeners.own
        @control.finish_deploy
        StartLines.write_ready(@log, config, listeners, @began)
        @growth.begin_at_start
        StartFailure.close
        @log.dismiss_witness
      end

      def fail_to_start
        @failed = true
        @fail.call
      end
    end
  end
end
