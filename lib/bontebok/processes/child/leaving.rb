# frozen_string_literal: true

module Bontebok
  class Child
    # How a child is told to end, and is ended.
    module Leaving
      # Tells it to finish within so many seconds. One that has not come so far as to serve has nothing to finish.
      def drain(seconds)
        finish(:drain, seconds)
      end

      # The same, while others go on listening where it does.
      def retire(seconds)
        finish(:retire, seconds)
      end

      # A request in it hangs.
      def hang
        @hung = true
      end

      def hung?
        @hung
      end

      # Retires it; it has no more than so many seconds, also if it had more before.
      def hurry(seconds)
        retire(seconds)
        expect(seconds) if @deadline && @deadline > Clock.now + seconds
      end

      # Tells it to end now, within so many seconds.
      def quit(seconds)
        leave(:quit, seconds)
        signal(:TERM) unless reached?(:loaded)
      end

      # Tells it to kill its own children, and to end within so many seconds.
      def kill_children(seconds)
        leave(:kill, seconds)
      end

      # Nothing more can be done about it: it has no deadline any more.
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

      # Until we have waited for it the pid cannot have become another's; whoever did so instead of us left none.
      def signal(name)
        Process.kill(name, pid)
      rescue Errno::ESRCH
        nil
      end
    end
  end
end
