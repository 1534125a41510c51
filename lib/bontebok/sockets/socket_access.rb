# frozen_string_literal: true

require "etc"
require "rbconfig"

require_relative "../start_error"

module Bontebok
  # The permissions of a unix socket: the mode, owner and group of its file decide whether a client may connect.
  class SocketAccess
    # A flag of open(2) for a handle of the file itself. Ruby has no constant for this flag. Only Linux has it.
    O_PATH = 0o10000000
    LINUX = RbConfig::CONFIG["host_os"].include?("linux")
    private_constant :O_PATH, :LINUX

    # owner: USER, USER:GROUP, :GROUP or nil. Each part is a name or a number. A part that is missing does not change.
    # by_name: there are no handles of files (see #apply). Raises StartError.
    def initialize(mode:, owner: nil, by_name: !LINUX)
      @mode = mode
      @by_name = by_name
      owner, group = owner.to_s.split(":")
      @owner = id(owner) { |name| Etc.getpwnam(name).uid }
      @group = id(group) { |name| Etc.getgrnam(name).gid }
    rescue ArgumentError => e
      raise StartError, "the owner of unix sockets: #{e.message}"
    end

    # Changes the file through a handle, and only if it is a socket. Otherwise a user with write permission in
    # the directory could replace the socket by a link to any file. Raises StartError or SystemCallError.
    def apply(path)
      return apply_by_name(path) if @by_name

      File.open(path, O_PATH | File::NOFOLLOW) do |file|
        raise Errno::ENOTSOCK unless file.stat.socket?

        handle = "/proc/self/fd/#{file.fileno}"
        File.chmod(@mode, handle)
        give_away(handle, path) if @owner || @group
      end
    end

    private

    # A link is not followed.
    def apply_by_name(path)
      raise Errno::ENOTSOCK unless File.lstat(path).socket?

      File.respond_to?(:lchmod) ? File.lchmod(@mode, path) : File.chmod(@mode, path)
      give_away(path, path) if @owner || @group
    end

    def give_away(handle, path)
      File.public_send(@by_name ? :lchown : :chown, @owner, @group, handle)
    rescue Errno::EPERM
      raise StartError, "cannot listen on unix:#{path}: not permitted to set the file's owner and group"
    end

    def id(name)
      return if name.to_s.empty?

      name.match?(/\A\d+\z/) ? name.to_i : yield(name)
    end
  end
end
