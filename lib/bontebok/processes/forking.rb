# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "../system/fork_guard"
require_relative "../system/main_thread"
require_relative "pidfile"

module Bontebok
  # Creates a Child by a fork. Child extends this module.
  module Forking
    # Forks and returns the Child. The new process closes the inherited channels and everything in to_close, and runs
    # the block. Its exit status is the block's result. Raises SystemCallError if the fork fails.
    def fork(number, to_close: [])
      require "bontebok/bontebok" # here, so that a start can report that the extension is not built
      Core.check_fork
      parent_end, child_end = Channel.pair
      pid = ForkGuard.pass do
        Process.fork do
          to_close.each(&:close)
          Channel.disown(except: child_end)
          Pidfile.disown
          MainThread.unguard { exit(yield(child_end)) }
        end
      end
      child_end.close
      new(number, pid, parent_end)
    rescue SystemCallError
      [parent_end, child_end].compact.each(&:close)
      raise
    end
  end
end
