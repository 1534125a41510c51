# frozen_string_literal: true

require_relative "../forked_process"
require_relative "../pidfile"
require_relative "../../sockets/departure"
require_relative "../../system/deadline"
require_relative "../../system/exit_limit"

module Bontebok
  class SingleProcess
    # The part of SingleProcess that stops the server.
    module Ending
      private

      # True if the server was told to stop.
      def stops?
        ends? || @departure || @drain_delay.begun?
      end

      # True if the threads were told to end.
      def ends? = @deadline

      # drain_delay does not apply before the server serves, and in a deploy, because the threads end already.
      def stop_gracefully
        @drain_delay.begin(ready: @lanes && !@kept)
      end

      # Leaves the addresses to other servers (reuse_port), then drains. status: the exit status.
      def leave(status = 0)
        return stop_deploying if @deadline
        return @departure.insist if @departure

        @status = status
        @departure = Departure.new(@listeners, newcomers: method(:newcomers?), log: @log,
                                               patience: @config.seconds(:worker_boot_timeout))
        tick_service
        tick_departure
      end

      # Drains when the addresses are left.
      def tick_departure
        drain if @departure && !@deadline && @service.released? && @departure.over?
      end

      def drain
        announce_end
        @log.info("stopping")
        @deadline = Deadline.new(@config.seconds(:graceful_timeout))
        @lanes.public_send(@departure.how)
      end

      def stop_at_once
        @interrupted = true
        forget_deploy if @kept
        @log.info("stopping at once")
        @status = 0
        @deadline = Deadline.new(ForkedProcess::QUIT_SECONDS)
        @serving = false
        tick_service
      end

      def tick_end
        return @serving = !@lanes.detached.over? if @lanes.detached.deadline
        return give_up if @deadline&.over?

        tick_departure
      end

      def end_deadline
        @lanes.detached.deadline || @deadline&.time || @departure&.deadline
      end

      # Ends the process before its requests are finished, with the exit status of the stop. In a deploy, the process is
      # executed again, or serves on beside these requests.
      def give_up
        @log.error("requests were not finished in time")
      ensure
        status = @kept ? execute_again : @status
        end_now(status) if status
        @serving = @deadline = nil
      end

      # Removes the files that #run would remove.
      def end_now(status)
        close_control
        @listeners.unlink
        Pidfile.remove
      ensure
        exit!(status)
      end

      # Limits the time of the exit. INT still ends the process at once. If INT has begun the stop, a second INT does
      # not change the exit status. TERM does nothing.
      def limit_exit
        Signal.trap("INT", @interrupted ? proc { exit!(@status) } : "SYSTEM_DEFAULT")
        @exit_limit = ExitLimit.set(exit_seconds, status: @status, log: @log)
      end

      # The rest of graceful_timeout, but at least a moment: the requests and hijacked connections may have used it up.
      # In a deploy it begins again, because a process that ends here would end the server.
      def exit_seconds
        seconds = @kept || !@deadline ? @config.seconds(:graceful_timeout) : @deadline.left
        [seconds, ForkedProcess::KILL_SECONDS].max.to_f
      end
    end
  end
end
