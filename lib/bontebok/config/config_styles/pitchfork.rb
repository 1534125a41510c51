# frozen_string_literal: true

require_relative "pitchfork_objects"
require_relative "unicorn"

module Bontebok
  module ConfigStyles
    # A configuration file for pitchfork. Its directives are those of unicorn and some of its own. The application is
    # always loaded before the fork. Workers are forked from the master, and never from another worker.
    class Pitchfork < Unicorn
      DEFAULTS = Unicorn::DEFAULTS.merge(preload: true, request_timeout_soft: 20_000, request_timeout: 22_000).freeze

      # A file may compare Pitchfork::VERSION.
      Pitchfork = PitchforkObjects

      nothing_to_do :setpgid, :timeout_signal, :refork_max_unavailable, :max_consecutive_spawn_errors

      advise "max_request_per_child replaces workers", :refork_after
      advise "the log has the backtraces", :after_worker_timeout, :after_worker_hard_timeout
      advise "env[\"rack.response_finished\"] runs code after a response", :after_request_complete
      advise "start such a process beside the server", :before_service_worker_ready, :before_service_worker_exit

      def spawn_timeout(seconds)
        limit_boot(seconds)
      end

      # cleanup: seconds from the exception in the request to the end of the worker.
      def timeout(seconds, cleanup: 2)
        seconds, cleanup = [seconds, cleanup].map { |time| time.is_a?(Numeric) ? time : Integer(time) }
        @bontebok_file.set(:request_timeout_soft, seconds)
        @bontebok_file.set(:request_timeout, seconds + cleanup)
      end

      # { name in Hooks => pitchfork's name }
      { after_fork: :after_worker_fork, before_worker_exit: :before_worker_exit }.each do |name, directive|
        define_method(directive) { |hook = nil, &block| add_worker_hook(name, hook || block, directive) }
      end

      # pitchfork calls the hook in the process that the workers are forked from, once, before all hooks before_fork.
      def after_mold_fork(hook = nil, &block)
        hook = Hooks.once(hook || block) || NO_HOOK
        @bontebok_file.add_hook(:before_fork, hook, directive: __method__, alone: true) do
          [@bontebok_server, UnicornObjects::Worker.new(nil, Process.pid, 0)]
        end
      end

      def before_fork(hook = nil, &block)
        @bontebok_file.at_end { add_worker_hook(:before_fork, hook || block, :before_fork) }
      end

      def after_monitor_ready(hook = nil, &block)
        hook ||= block || NO_HOOK
        @bontebok_file.add_hook(:on_booted, hook, directive: __method__, alone: true) { [@bontebok_server] }
      end
    end
  end
end
