# frozen_string_literal: true

require_relative "deadline"

module Bontebok
  # A limit for the exit of Master, Worker and SingleProcess, which have loaded an application: its exit handlers, and
  # what its threads do in an ensure, may take for ever, and whoever would kill the process may be gone.
  #
  # It relies on the order in which Ruby ends (ruby_cleanup in its eval.c, the same from 3.1 on): exit handlers first,
  # while all threads run; then it kills all threads but the main one, this one as well, and waits for their ensure;
  # only then are objects finalized and the process ends. So this thread counts on while the handlers run, and from its
  # own ensure for as long as Ruby waits for the others.
  module ExitLimit
    class << self
      # To be called when nothing but the exit is left. The process ends within so many seconds, with this status if it
      # does not get as far as to its own.
      def set(seconds, status:, log:)
        deadline = Deadline.new(seconds)
        begun = Queue.new
        Thread.new do
          killed = true
          begun.push(:begun)
          deadline.wait { |part| sleep(part) && nil }
          killed = false
        ensure
          end_now(seconds, status, log) unless killed && threads_end?(deadline)
        end
        begun.pop # a thread that is killed before it begins has no ensure
      rescue ThreadError
        nil # no room for it: the exit goes on without a limit
      end

      private

      # All but this one, and the main thread, which is in Ruby's exit.
      def threads_end?(deadline)
        (Thread.list - [Thread.main, Thread.current]).all? { |thread| ends?(thread, deadline) }
      end

      def ends?(thread, deadline)
        deadline.wait { |seconds| thread.join(seconds) }
      rescue Exception # rubocop:disable Lint/RescueException
        true # the one that it died of
      end

      def end_now(seconds, status, log)
        log.error("the exit took longer than #{seconds.round(1)} s")
      ensure
        exit!(status)
      end
    end
  end
end
