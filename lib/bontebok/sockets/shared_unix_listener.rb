# frozen_string_literal: true

require "fileutils"

require_relative "unix_listener"

module Bontebok
  # Listens on a unix socket whose path a running server may have (ReusePort). The file is created under another name.
  # When the socket listens, the file replaces the file of the other server by rename(2), so at any time clients find a
  # file whose socket listens. The other server serves on, without a path. Its file gets the name PATH.former: if the
  # newcomer leaves first, the file gets its path back. An abstract name cannot be shared.
  class SharedUnixListener < UnixListener
    # Another server has replaced the file.
    def replaced?
      !@identity.nil? && File.exist?(path) && !own?(path)
    end

    private

    # The directory is locked while the file has this name.
    def first_path
      return path if address.abstract?

      "#{path}.next".tap { |next_path| raise Errno::ENAMETOOLONG if next_path.bytesize > Address::LONGEST_PATH }
    end

    def former_path
      "#{path}.former"
    end

    # Removes the file of a server that was killed under the lock.
    def vacate
      raise Errno::EEXIST if File.exist?(path) && !File.socket?(path)

      FileUtils.rm_f(first_path)
    end

    def appear
      keep_former
      File.rename(first_path, path)
    end

    # Some file systems do not have hard links.
    def keep_former
      FileUtils.rm_f(former_path)
      File.link(path, former_path) if living?(path)
    rescue SystemCallError
      nil
    end

    # Under the lock, because another server may be about to replace the file.
    def remove
      alone_in_directory do
        if own?(path)
          living?(former_path) ? File.rename(former_path, path) : FileUtils.rm_f([path, former_path])
        elsif own?(former_path)
          File.unlink(former_path)
        end
      end
    end

    def own?(path)
      super
    rescue Errno::ENOENT
      false
    end

    # A server whose queue is full lives as well (EAGAIN).
    def living?(path)
      Socket.open(Socket::PF_UNIX, Socket::SOCK_STREAM) do |probe|
        probe.connect_nonblock(Socket.pack_sockaddr_un(path), exception: false)
      end
      true
    rescue Errno::ECONNREFUSED, Errno::ENOENT, ArgumentError # ArgumentError: the path is too long
      false
    end
  end
end
