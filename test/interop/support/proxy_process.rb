# frozen_string_literal: true

module Interop
  # A proxy's process. #stop kills the process, because a proxy can ignore a TERM that arrives during its start.
  class ProxyProcess < Support::ChildProcess
    def stop(*)
      kill
      status
    end
  end
end
