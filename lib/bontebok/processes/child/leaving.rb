# frozen_string_literal: true

module Bontebok
  class Child
    # How a parent tells a child to end, and how it kills the child.
    module Leaving
      # Tells the child to finish within `seconds`. A child that does not serve yet ends at once.
      def drain(seconds)
        finish(:drain, seconds)
      end

      # Like #drain, while other processes go on listening on the same sockets.
      def retire(seconds)
        finish(:retire, seconds)
      end

      # Notes that a request in the child hangs.
      def hang
        @hung = true
      end

      def hung?
        @hung
      end

      # Retires the child. It has at most `seconds` to end, even if it had more before.
      def hurry(seconds)
        retire(seconds)
        expect(seconds) if @deadline && @deadline > Clock.now + seconds
      end

      # Tells the child to end now, within `seconds`.
      def quit(seconds)
        leave(:quit, seconds)
        signal(:TERM) unless reached?(:loaded)
      end

      # Tells the child to kill its own children, and to end within `seconds`.
      def kill_children(seconds)
        leave(:kill, seconds)
      end

      # Nothing more can be done about a killed child: it has no deadline any more.
      def kill
        signal(:KILL)
        @killed = true
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

      # The pid cannot belong to another process before the child is reaped. If other code has reaped it, there is no
      # process.
      def signal(name)
        Process.kill(name, pid)
      rescue Errno::ESRCH
        nil
      end
    end
  end
end
