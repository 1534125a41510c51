# frozen_string_literal: true

module Bontebok
  # A copy of a socket's descriptor. The core owns the copy and closes it.
  class DupedDescriptor
    attr_reader :fileno

    def initialize(socket)
      copy = socket.dup
      copy.autoclose = false
      @fileno = copy.fileno
      @inode = copy.stat.ino
    end

    # Called in a process that the application has forked. Closes the copy, unless its number is another file's.
    def disown
      copy = IO.for_fd(@fileno, autoclose: false)
      copy.autoclose = copy.stat.ino == @inode
      copy.close
    rescue SystemCallError
      nil
    end
  end
end
