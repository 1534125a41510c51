# frozen_string_literal: true

require_relative "../../request_timeout"
require_relative "../hooks"

module Bontebok
  module ConfigStyles
    # The hooks of a file for puma, with the names of puma 7 and of earlier versions. A worker's index counts from 0.
    class PumaHooks
      # The argument of after_worker_shutdown.
      WorkerHandle = Struct.new(:index, :pid, :process_status)

      INDEX = ->(worker) { [worker.number - 1] }
      NOTHING = ->(*) { [] }
      HANDLE = ->(worker, status) { [WorkerHandle.new(worker.number - 1, worker.pid, status)] }

      # { name in Hooks => [lambda that returns the arguments, puma's names] }
      WITH_COUNTERPART = {
        before_fork: [INDEX, %i[before_worker_fork on_worker_fork]],
        after_worker_fork: [INDEX, %i[after_worker_fork after_worker_boot]],
        after_fork: [INDEX, %i[before_worker_boot on_worker_boot]],
        before_worker_exit: [INDEX, %i[before_worker_shutdown on_worker_shutdown]],
        after_worker_exit: [HANDLE, %i[after_worker_shutdown]],
        on_booted: [NOTHING, %i[after_booted on_booted]],
        after_stopped: [NOTHING, %i[after_stopped on_stopped]],
        before_thread_start: [NOTHING, %i[before_thread_start on_thread_start]],
        before_thread_exit: [NOTHING, %i[before_thread_exit on_thread_exit]],
        out_of_band: [NOTHING, %i[out_of_band]]
      }.freeze

      # Hooks that never run here. They belong to a restart by exec, or to a fork from a worker.
      WITHOUT_COUNTERPART = %i[before_restart on_restart before_refork after_refork on_refork].freeze

      # file: the ConfigFile.
      def initialize(file)
        @file = file
        @data = Hash.new { |data, key| data[key] = {} }
      end

      WITH_COUNTERPART.each do |name, (arguments, directives)|
        directives.each do |directive|
          define_method(directive) do |key = nil, &block|
            data = data_for(key)
            @file.add_hook(name, block, directive: directive) { |*told| [*arguments.call(*told), *data] }
          end
        end
      end

      WITHOUT_COUNTERPART.each { |directive| define_method(directive) { |_key = nil, &_block| nil } }

      # puma runs this hook once, before the first worker is forked.
      def before_fork(&block)
        @file.add_hook(:before_fork, Hooks.once(block)) { [] }
      end

      # The hook returns the response, [status, headers, body].
      def lowlevel_error_handler(handler = nil, &block)
        @file.add_hook(:on_error, handler || block, directive: __method__) do |error, env|
          [error, env, error.is_a?(RequestTimeout) ? 504 : 500]
        end
      end

      private

      # The Hash that all hooks with this key share, in one process.
      def data_for(key)
        key ? [@data[key.to_s]] : []
      end
    end
  end
end
