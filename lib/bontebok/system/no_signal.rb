# frozen_string_literal: true

require "socket"

module Bontebok
  # A write to a socket whose peer has gone raises EPIPE, and a signal, SIGPIPE. Ruby handles the signal. But the
  # application may have set the default action, which ends the process. See
  # docs/decisions/0022-the-host-keeps-its-sigpipe.md.
  module NoSignal
    # The flag for `send` and `sendmsg`: no signal. Not every system has it.
    FLAG = Socket.const_defined?(:MSG_NOSIGNAL) ? Socket::MSG_NOSIGNAL : 0
  end
end
