# frozen_string_literal: true

require_relative "deadline"

module Bontebok
  # A time limit for the exit of a process that has loaded an application: Master, Worker, SingleProcess, and Supervisor
  # under rackup. The application's exit handlers and the ensure clauses of its threads may never end, and the parent
  # that would kill this process may have died.
  #
  # The limit relies on the order of Ruby's exit (ruby_cleanup in Ruby's eval.c, unchanged since Ruby 3.1):
  #
  #   1. Exit handlers run, while all threads continue.
  #   2. Ruby kills all threads but the main one, also the thread of this limit, and waits for their ensure clauses.
  #   3. Objects are finalized, and the process ends.
  #
  # The limit's thread watches the time while the handlers run. When Ruby has killed this thread, its ensure clause
  # watches the time while Ruby waits for the other threads.
  module ExitLimit
    # Thread-local name: the limit does not apply any more.
    LIFTED = :bontebok_lifted
    private_constant :LIFTED

    class << self
      # Must be called directly before the exit. The process ends within `seconds`: with its own exit status, or with
      # `status` after the timeout. Returns the limit, for .lift.
      def set(seconds, status:, log:)
        deadline = Deadline.new(seconds)
        begun = Queue.new
        limit = Thread.new do
          killed = true
          begun.push(:begun)
          deadline.wait { |part| sleep(part) && nil }
          killed = false
        ensure
          end_now(seconds, status, log) unless Thread.current[LIFTED] || (killed && threads_end?(deadline))
        end
        begun.pop # a thread that is killed before it begins runs no ensure
        limit
      rescue ThreadError
        nil # no room for the thread: the exit has no limit
      end

      # Called if the process goes on. limit: the result of .set.
      def lift(limit)
        return unless limit

        limit[LIFTED] = true
        limit.kill.join
      end

      private

      # True if all threads end in time. This thread and the main thread, which is in Ruby's exit, do not count.
      def threads_end?(deadline)
        (Thread.list - [Thread.main, Thread.current]).all? { |thread| ends?(thread, deadline) }
      end

      def ends?(thread, deadline)
        deadline.wait { |seconds| thread.join(seconds) }
      rescue Exception # rubocop:disable Lint/RescueException
        true # the exception that ended the thread
      end

      def end_now(seconds, status, log)
        log.error("the exit took longer than #{seconds.round(1)} s")
      ensure
        exit!(status)
      end
    end
  end
end
