# frozen_string_literal: true

require_relative "deadline"

module Bontebok
  # A time limit for the exit of a process that has loaded an application: Master, Worker, SingleProcess, and Supervisor
  # under rackup. The application's exit handlers and the ensure clauses of its threads may take for ever, and the
  # process that would kill this one may be gone.
  #
  # It relies on the order in which Ruby ends (ruby_cleanup in Ruby's eval.c, the same from 3.1 on):
  #
  #   1. Exit handlers run, while all threads go on.
  #   2. Ruby kills all threads but the main one, also the thread of this limit, and waits for their ensure clauses.
  #   3. Objects are finalized, and the process ends.
  #
  # So the limit's thread watches the time while the handlers run. After it is killed, its ensure clause watches the
  # time while Ruby waits for the other threads.
  module ExitLimit
    class << self
      # Call it when only the exit is left. The process ends within `seconds`: with its own status, or with `status` if
      # the time is over first.
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
        begun.pop # a thread that is killed before it begins runs no ensure
      rescue ThreadError
        nil # no room for the thread: the exit has no limit
      end

      private

      # Whether all threads end in time, except this one and the main thread, which is in Ruby's exit.
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
