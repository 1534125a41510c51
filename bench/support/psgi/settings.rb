# frozen_string_literal: true

module Bench
  module Psgi
    # Requests after which a worker or a connection may end: later than a run does.
    MANY = 999_999_999

    # How a server is started.
    #
    # mode: :close or :kept. workers: processes that serve; 0: one process without a master, or one worker if the server
    # always has a master. worker_requests: a worker is replaced after so many. connection_requests: a server that holds
    # a worker for a kept-alive connection closes it after so many. starter: start_server opens the listener. more:
    # options that are added.
    Settings = Struct.new(:mode, :workers, :worker_requests, :connection_requests, :starter, :more,
                          keyword_init: true) do
      def initialize(mode: :close, workers: 0, worker_requests: MANY, connection_requests: MANY, starter: false,
                     more: [])
        super
      end

      # For servers that always have workers.
      def least_workers = [workers, 1].max
      def started_by_starter = dup.tap { |settings| settings.starter = true }
      def master = least_workers == 1 ? "1 worker and its master" : "#{workers} workers and their master"
    end
  end
end
