# frozen_string_literal: true

require "io/wait"

require_relative "../system/quiet_signals"

module Bontebok
  # While a forked process, a Master or a Worker, runs the application's code before it serves: to load it, and hooks.
  # That may take long, and meanwhile nobody hears the channel; but there is nothing yet to finish, or to pass on to
  # children. So a signal ends the process at once, and the end of its parent does; not those of QuietSignals.
  module ChildLoading
    class << self
      # Returns what the block does, or raises. orphaned is called if the parent ends meanwhile. The signals are left as
      # they are here: the caller makes a SignalQueue of them next.
      def guard(channel:, signals:, log:, orphaned: nil)
        @signals = signals
        QuietSignals.hush(signals)
        (signals - QuietSignals::NAMES).each { |signal| Signal.trap(signal, "SYSTEM_DEFAULT") }
        watch = Thread.new { leave_with_parent(channel, log, orphaned) }
        yield
      ensure
        watch&.kill&.join
        @signals = nil
      end

      # Listeners of the first start do not listen before all is well. Returns the words that came beside :go; nil: the
      # end came instead.
      def wait_for_go(channel)
        words = []
        until words.intersect?(%i[go drain retire quit closed])
          channel.to_io.wait_readable
          words.concat(channel.hear)
        end
        words - [:go] if words.include?(:go)
      end

      # Around a hook that runs when the parent has heard of us: it may say anything by then, and sends no signal.
      # Returns what it has said; the process ends at once when it is to go, since it does not serve yet.
      def attend(channel, log)
        words = []
        over, done = IO.pipe
        begin
          watch = Thread.new { words.concat(hear_or_leave(channel, log)) until over?(channel, over) }
          yield
        ensure
          done.write(".") # not its end: what the application has forked holds a copy
          watch&.join
          [over, done].each(&:close)
        end
        words
      end

      # In a process that the application forks meanwhile: signals do there what they would without us, unless the
      # application has set a handler of its own.
      def disown
        @signals&.each do |signal|
          former = Signal.trap(signal, "DEFAULT")
          Signal.trap(signal, former) unless former == "SYSTEM_DEFAULT"
        end
      end

      private

      def over?(channel, over)
        IO.select([channel, over]).first.include?(over)
      end

      def hear_or_leave(channel, log)
        words = channel.hear
        return words unless words.intersect?(%i[drain retire quit closed])

        begin
          log.warn("leaves before it serves: the master is gone") if words.include?(:closed)
        ensure
          exit!(0)
        end
      end

      # Before it has heard of us again the parent says nothing but that we are to end, and sends a signal as well.
      def leave_with_parent(channel, log, orphaned)
        channel.to_io.wait_readable
        begin
          note_orphaned(log, orphaned) if channel.hear.include?(:closed)
        ensure
          exit!(1)
        end
      end

      def note_orphaned(log, orphaned)
        log.warn("the application is not loaded to the end: the parent process is gone")
      ensure
        orphaned&.call
      end
    end
  end
end
