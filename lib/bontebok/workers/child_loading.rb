# frozen_string_literal: true

require "io/wait"

require_relative "../system/quiet_signals"

module Bontebok
  # Runs code of the application in a Master or a Worker that does not serve yet. The process loads the application or
  # runs a hook. This code may take long, and the main thread does not read the channel while the code runs. The process
  # has no request to finish, and no children that serve. So a signal ends the process at once, unless it is one of
  # QuietSignals. The end of the parent also ends the process.
  module ChildLoading
    class << self
      # Returns the block's result. orphaned: called if the parent ends while the block runs. The signal handlers are
      # not restored, because after this call the caller creates a SignalQueue for these signals.
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

      # Waits for the word: :go, which the parent sends when the listeners listen, or :serve. words: those that have
      # arrived before. Returns the other words that have arrived, or nil if the process must end. After the word and
      # :drain, the process first serves the connections that are queued.
      def wait_for(word, channel, words = [])
        words = words.dup
        until words.intersect?([word, :drain, :retire, :quit, :closed])
          channel.to_io.wait_readable
          words.concat(channel.hear)
        end
        words - [word] if words.include?(word) && !words.intersect?(%i[retire quit])
      end

      # Runs a hook in a process that has said :loaded. After :loaded, the parent may send any word (a message of
      # Channel), and sends no signals. Returns the words that arrive during the hook. If the parent ends, or tells the
      # process to end, the process ends at once, because it does not serve yet.
      def attend(channel, log)
        words = []
        over, done = IO.pipe
        begin
          watch = Thread.new { words.concat(hear_or_leave(channel, log)) until over?(channel, over) }
          yield
        ensure
          done.write(".") # a close wakes nobody if a process that the application has forked holds a copy
          watch&.join
          [over, done].each(&:close)
        end
        words
      end

      # Called in a process that the application forks in the block. Resets the signals to their defaults, except
      # signals with a handler of the application.
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

      # Before the process has said :loaded, any word of its parent means that the process must end.
      def leave_with_parent(channel, log, orphaned)
        channel.to_io.wait_readable
        begin
          note_orphaned(log, orphaned) if channel.hear.include?(:closed)
        ensure
          exit!(1)
        end
      end

      def note_orphaned(log, orphaned)
        log.warn("stops loading the application: the parent process is gone")
      ensure
        orphaned&.call
      end
    end
  end
end
