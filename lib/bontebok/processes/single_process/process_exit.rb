# frozen_string_literal: true

require_relative "../pidfile"
require_relative "../../system/exit_limit"

module Bontebok
  class SingleProcess
    # The exit of the process: its status, its time limit, and an exit without an end of the requests.
    class ProcessExit
      # The least time, in seconds: the requests and hijacked connections may have used up their time.
      LEAST_SECONDS = 1

      # The block removes the files of the sockets.
      def initialize(config, stop, deploy, log:, &unlink)
        @config = config
        @stop = stop
        @deploy = deploy
        @log = log
        @unlink = unlink
      end

      # 0 only if a signal or the application told the process to end.
      def status
        told = @deploy.canceled? || @stop.how == :quit || (@stop.leaves? && !@stop.failed?)
        told ? 0 : 1
      end

      # deadline: of the requests, or nil. INT still ends the process at once. If INT has begun the stop, a second INT
      # does not change the exit status. TERM does nothing. In a deploy, graceful_timeout begins again, because a
      # process that ends here would end the server.
      def limit(deadline)
        Signal.trap("INT", @stop.how == :quit ? proc { exit!(status) } : "SYSTEM_DEFAULT")
        seconds = (deadline&.left unless @deploy.under_way?) || @config.seconds(:graceful_timeout)
        @limit = ExitLimit.set([seconds, LEAST_SECONDS].max.to_f, status: status, log: @log)
      end

      # The process serves on.
      def lift = ExitLimit.lift(@limit)

      # Ends the process at once, and removes its files.
      def now(status)
        @unlink.call
        Pidfile.remove
      ensure
        exit!(status)
      end
    end
  end
end
