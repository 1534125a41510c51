# frozen_string_literal: true

module Bontebok
  class Child
    # The part of Child that tells the child to end, or kills it.
    module Leaving
      # Tells the child to finish its requests and to end within `seconds`. A child that does not serve yet ends at
      # once.
      def drain(seconds)
        finish(:drain, seconds)
      end

      # Like #drain, but other processes continue to accept connections from the same sockets.
      def retire(seconds)
        finish(:retire, seconds)
      end

      # Gives a child that has closed its channel `seconds` to end. It may end already, so it gets no signal before.
      def await_end(seconds)
        leave(:retire, seconds)
      end

      # Tells a master to retire its workers, and to stay loaded.
      def park
        @staying = false
        channel.say(:park)
      end

      # Tells a parked master to start workers. It reports its steps again.
      def unpark
        @staying = true
        @progress = :started
        channel.say(:serve)
      end

      # Notes that a request in the child hangs, or that the child does not move.
      def hang(cause = :request_timeout)
        @hung = true
        @cause = cause
      end

      def hung?
        @hung
      end

      # Retires the child, with at most `seconds` to end. If the child is leaving already, a longer deadline is
      # shortened.
      def hurry(seconds)
        retire(seconds)
        channel.say(:hurry)
        expect(seconds) if @deadline && @deadline > Clock.now + seconds
      end

      # Called when the child only waits for hijacked connections and streams, at most `seconds`.
      def waits(seconds)
        return unless leaving?

        @waiting = true
        expect(seconds)
      end

      def waiting?
        @waiting
      end

      # Tells the child to end within `seconds`, without finishing its requests.
      def quit(seconds)
        leave(:quit, seconds)
        signal(:TERM) unless reached?(:loaded)
      end

      # Tells the child to kill its own children, and to end within `seconds`.
      def kill_children(seconds)
        leave(:kill, seconds)
      end

      # A killed child has no deadline.
      def kill(fault = nil)
        signal(:KILL)
        @killed = true
        @fault = fault
        @deadline = nil
      end

      def killed?
        @killed
      end

      private

      def finish(word, seconds)
        return if leaving?

        leave(word, seconds)
        signal(:TERM) unless reached?(:loaded)
      end

      def leave(word, seconds)
        @staying = false
        @leaving = true
        expect(seconds)
        channel.say(word)
      end

      # The pid cannot belong to another process before the child is reaped. ESRCH: other code has reaped the child.
      def signal(name)
        Process.kill(name, pid) unless ended?
      rescue Errno::ESRCH
        nil
      end
    end
  end
end
