# frozen_string_literal: true

require_relative "unix_listener"

module Bontebok
  # Listens on a unix socket whose path a running server may have (reuse_port). The file is created under another name.
  # When the socket listens, the file replaces the file of the other server by rename(2), so at any time clients find a
  # file whose socket listens. The other server serves on, without a path. Its file gets the name PATH.former: if the
  # newcomer leaves first, the file gets its path back. A running server without reuse_port keeps its path, and the
  # start fails. An abstract name cannot be shared.
  class SharedUnixListener < UnixListener
    NEXT = ".next"
    FORMER = ".former"
    private_constant :NEXT, :FORMER

    def shared? = true

    # Another server has replaced the file.
    def replaced?
      !@identity.nil? && File.exist?(path) && !own?(path)
    end

    # Takes the path back from a server that was killed.
    def reclaim
      alone_in_directory { File.rename(former_path, path) if own?(former_path) && name_of_server(path).nil? }
    end

    private

    # The directory is locked while the file has this name. The kernel keeps the name, so a client can see that the
    # server has reuse_port.
    def first_path
      return path if address.abstract?

      longest = Address::LONGEST_PATH - NEXT.size
      fail_because("with reuse_port, a unix path has at most #{longest} bytes") if path.bytesize > longest

      "#{path}#{NEXT}"
    end

    def former_path
      "#{path}#{FORMER}"
    end

    # Raises if a server without reuse_port has the path. The second file is of a server that was killed under the lock.
    def dead_files
      files = name_of_server(path)&.end_with?(NEXT) ? [] : super
      File.exist?(first_path) ? [*files, first_path] : files
    end

    def appear
      keep_former
      File.rename(first_path, path)
    end

    # Some file systems do not have hard links.
    def keep_former
      remove_quietly(former_path)
      File.link(path, former_path) if name_of_server(path)
    rescue SystemCallError
      nil
    end

    # Under the lock, because another server may be about to replace the file.
    def remove
      alone_in_directory do
        if own?(path)
          name_of_server(former_path) ? File.rename(former_path, path) : remove_both
        elsif own?(former_path)
          File.unlink(former_path)
        end
      end
    end

    def remove_both
      [path, former_path].each { |name| remove_quietly(name) }
    end

    def remove_quietly(name)
      File.unlink(name)
    rescue SystemCallError
      nil # mostly: there is no such file
    end

    def own?(path)
      super
    rescue Errno::ENOENT
      false
    end

    # Returns the name with which a running server has created the file, or nil if no server runs. If the queue of the
    # server is full (EAGAIN), it is taken for a server with reuse_port.
    def name_of_server(path)
      Socket.open(Socket::PF_UNIX, Socket::SOCK_STREAM) do |probe|
        probe.connect_nonblock(place(path), exception: false)
        probe.remote_address.unix_path
      end
    rescue Errno::EAGAIN
      NEXT
    rescue Errno::ECONNREFUSED, Errno::ENOENT, ArgumentError # ArgumentError: the path is too long
      nil
    end
  end
end
