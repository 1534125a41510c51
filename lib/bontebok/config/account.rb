# frozen_string_literal: true

require "etc"

require_relative "../start_error"
require_relative "../system/error_text"
require_relative "../usage_error"

module Bontebok
  # The user and the group of the application (option `user`). Used by Config, the supervisor and the masters
  # (they fork the workers). The supervisor stays root, because it must remove the pid file and sockets, and open log
  # files again in root's directories. A master becomes the user before it loads anything. So its workers, and all
  # processes that the workers fork, run as this user from their start. Without User, or if the process runs as that
  # user already, nothing changes.
  class Account
    # Raised if the user or the group does not exist.
    class Unknown < UsageError; end

    # Valid numbers. (uid_t) -1 is excluded, because it means "unchanged" in system calls such as chown(2).
    NUMBERS = (0...0xffff_ffff)

    # The user's number; nil without User.
    attr_reader :uid

    # user, group: a name, a number as text, or nil. Raises Unknown.
    def initialize(user = nil, group = nil)
      return unless user

      @entry = entry(:getpwnam, :getpwuid, user)
      @name = @entry ? @entry.name : user
      @uid = @entry ? @entry.uid : number(user, :user)
      @gid = group ? group_id(group) : group_of_user
    end

    # The user and the group for another Account.
    def ids
      [@uid, @gid].map { |number| number&.to_s }
    end

    def change?
      !@uid.nil? && [Process.euid, Process.egid] != [@uid, @gid]
    end

    # Raises StartError if this process is not allowed to become the user.
    def check
      act { nil }
    rescue SystemCallError => e
      raise StartError, "only root can become the user #{@name}: #{ErrorText.of(e)}"
    end

    # Becomes the user permanently. The groups are set first, because a process that is no longer root cannot change its
    # groups. Returns the variables that are changed in ENV; nil: nothing has changed. Raises SecurityError or
    # SystemCallError.
    def assume
      return unless change?

      take_groups
      Process::Sys.setgid(@gid)
      Process::Sys.setuid(@uid)
      @assumed = true
      verify
      variables.tap { |changed| ENV.update(changed) }
    end

    # Runs the block as the user (effective ids). So a permission check in the block is a check for the user, and a link
    # that the user has made cannot lead root to a file of somebody else. If the block raises StartError, the message
    # names the user.
    def act(&)
      change? ? act_for_a_while(&) : yield
    rescue StartError => e
      raise e.class.new(*e.messages.map { |message| described(message) })
    end

    # Opens a file to append to. If the user is not allowed to create the file, root creates it for the user. This is
    # necessary after a log was rotated in a directory that belongs to root.
    def append(path)
      act { File.open(path, "a") }
    rescue Errno::EACCES
      raise unless change? && roots_own?(File.dirname(path))

      make(path)
      act { File.open(path, "a") }
    end

    # Makes the checks of #append, and creates no file. Raises SystemCallError.
    def check_append(path)
      directory = File.dirname(path)
      raise Errno::EISDIR if File.directory?(path)
      raise Errno::ENOENT unless File.directory?(directory)
      return if act { File.writable?(File.exist?(path) ? path : directory) }

      raise Errno::EACCES if File.exist?(path) || File.symlink?(path) || !change? || !roots_own?(directory)
    end

    def described(message)
      change? || @assumed ? "as the user #{@name}: #{message}" : message
    end

    private

    def act_for_a_while
      groups = Process.groups
      gid = Process.egid
      uid = Process.euid
      take_groups
      begin
        Process::Sys.setegid(@gid)
        Process::Sys.seteuid(@uid)
        yield
      ensure
        Process::Sys.seteuid(uid)
        Process::Sys.setegid(gid)
        Process.groups = groups
      end
    end

    def variables
      @entry ? { "USER" => @entry.name, "LOGNAME" => @entry.name, "HOME" => @entry.dir } : {}
    end

    def take_groups
      @entry ? Process.initgroups(@entry.name, @gid) : Process.groups = [@gid]
    end

    # Checks that the process cannot become root again. Raises SecurityError.
    def verify
      ids = [Process.uid, Process.euid, Process.gid, Process.egid]
      return if ids == [@uid, @uid, @gid, @gid] && !returns?(:setuid, @uid) && !returns?(:setgid, @gid)

      raise SecurityError, "cannot give up root's privileges for those of the user #{@name}"
    end

    # True if the process can become root again with this call. Always false for the user root and for group 0.
    def returns?(call, own)
      return false if @uid.zero? || own.zero?

      Process::Sys.public_send(call, 0)
      true
    rescue Errno::EPERM
      false
    end

    # Creates the file for the user. With EXCL, the call fails if another user has put a file or a link there. The owner
    # of such a file must not change.
    def make(path)
      File.open(path, File::WRONLY | File::CREAT | File::EXCL) { |file| give_away(file) }
    rescue Errno::EEXIST
      nil
    end

    # Removes the file if chown fails, because with a file that belongs to root the next start would fail.
    def give_away(file)
      file.chown(@uid, @gid)
    rescue SystemCallError
      File.unlink(file.path)
      raise
    end

    # True if the user cannot have put a link into the directory's path. A link there would make root create the file in
    # another directory.
    def roots_own?(directory)
      return false unless File.realpath(directory).b == directory.b

      act { ways(directory).none? { |way| File.owned?(way) || (File.writable?(way) && !File.sticky?(way)) } }
    end

    def ways(directory)
      parent = File.dirname(directory)
      parent == directory ? [directory] : [directory, *ways(parent)]
    end

    def group_of_user
      return @entry.gid if @entry

      raise Unknown, "the user #{@name} has no primary group: write #{@name}:GROUP"
    end

    def group_id(group)
      entry(:getgrnam, :getgrgid, group)&.gid || number(group, :group)
    end

    # Returns nil if there is no such name or number.
    def entry(by_name, by_number, account)
      account.b.match?(/\A\d+\z/) ? Etc.public_send(by_number, account.to_i) : Etc.public_send(by_name, account)
    rescue ArgumentError, RangeError
      nil
    end

    # kind: for the message.
    def number(account, kind)
      return account.to_i if account.b.match?(/\A\d+\z/) && NUMBERS.cover?(account.to_i)

      raise Unknown, "there is no #{kind} #{account}"
    end
  end
end
