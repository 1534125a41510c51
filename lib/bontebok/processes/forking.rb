# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "../system/fork_guard"
require_relative "../system/main_thread"

module Bontebok
  # How a Child comes into being.
  module Forking
    # Forks. In the child: closes the parent's channels (to_close: whatever else is not the child's), then exits with
    # what the block returns. Raises SystemCallError when there is no room for it.
    def fork(number, to_close: [])
      require "bontebok/bontebok" # only here: a start tells whether it is built
      Core.check_fork
      parent_end, child_end = Channel.pair
      pid = ForkGuard.pass do
        Process.fork do
          to_close.each(&:close)
          Channel.disown(except: child_end)
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
