# frozen_string_literal: true

require "etc"

require_relative "../start_error"
require_relative "../usage_error"

module Bontebok
  # Whom the application runs as: the options User and Group. The supervisor stays what it was started as, root: it has
  # to remove the pid file and sockets, and to open log files anew in directories that are root's. A master becomes this
  # user first of all, before it loads anything; so its workers, and whatever they fork, are nobody else from birth.
  # Without User, or where the process is that user already, nothing is changed.
  class Account
    # There is no such user or group. option: the one that names it.
    class Unknown < UsageError
      attr_reader :option

      def initialize(option, message)
        super(message)
        @option = option
      end
    end

    # (uid_t) -1 stands for "as it is".
    NUMBERS = (0...0xffff_ffff)

    # user, group: a name, a number as text, or nil. Raises Unknown.
    def initialize(user, group)
      raise Unknown.new(:group, "Group is for User, which is not set") if group && !user
      return unless user

      @entry = entry(:getpwnam, :getpwuid, user)
      @name = @entry ? @entry.name : user
      @uid = @entry ? @entry.uid : number(user, :user)
      @gid = group ? group_id(group) : group_of_user
    end

    def change?
      !@uid.nil? && [Process.euid, Process.egid] != [@uid, @gid]
    end

    # Raises StartError when this process may not become that user.
    def check
      act { nil }
    rescue SystemCallError => e
      raise StartError, "only root can become the user #{@name}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # From now on, for good: in this order, since who is not root any more can change neither groups nor group.
    def assume
      return unless change?

      take_groups
      Process::Sys.setgid(@gid)
      Process::Sys.setuid(@uid)
      @assumed = true
      verify
      ENV.update("USER" => @entry.name, "LOGNAME" => @entry.name, "HOME" => @entry.dir) if @entry
    end

    # The block as that user: what is found to work is found to work for him, and no link that he has made leads root to
    # a file that is not his. A StartError says whose it is.
    def act(&)
      change? ? act_for_a_while(&) : yield
    rescue StartError => e
      raise e.class, described(e.message)
    end

    # Opens a file to append to. Where the user may not make one, it is made for him: after the log was rotated in a
    # directory of root's as well.
    def append(path)
      act { File.open(path, "a") }
    rescue Errno::EACCES
      raise unless change? && roots_own?(File.dirname(path))

      make(path)
      act { File.open(path, "a") }
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

    def take_groups
      @entry ? Process.initgroups(@entry.name, @gid) : Process.groups = [@gid]
    end

    # A kernel that let root come back would make a lie of all that this is for.
    def verify
      ids = [Process.uid, Process.euid, Process.gid, Process.egid]
      return if ids == [@uid, @uid, @gid, @gid] && !returns?(:setuid, @uid) && !returns?(:setgid, @gid)

      raise SecurityError, "root's rights could not be given up for those of #{@name}"
    end

    # Who is root still may take any group.
    def returns?(call, own)
      return false if @uid.zero? || own.zero?

      Process::Sys.public_send(call, 0)
      true
    rescue Errno::EPERM
      false
    end

    # Only what is new is given away, and nothing that somebody has put there meanwhile, a link for example.
    def make(path)
      File.open(path, File::WRONLY | File::CREAT | File::EXCL) { |file| give_away(file) }
    rescue Errno::EEXIST
      nil
    end

    # Left as root's it would be refused by the next start.
    def give_away(file)
      file.chown(@uid, @gid)
    rescue SystemCallError
      File.unlink(file.path)
      raise
    end

    # Nowhere on the way to it can the user have put a link to another directory: root would make a file there.
    def roots_own?(directory)
      return false unless File.realpath(directory) == directory

      act { ways(directory).none? { |way| File.owned?(way) || (File.writable?(way) && !File.sticky?(way)) } }
    end

    def ways(directory)
      parent = File.dirname(directory)
      parent == directory ? [directory] : [directory, *ways(parent)]
    end

    def group_of_user
      return @entry.gid if @entry

      raise Unknown.new(:user, "the user #{@name} has no group of its own: Group is needed as well")
    end

    def group_id(group)
      entry(:getgrnam, :getgrgid, group)&.gid || number(group, :group)
    end

    # nil: it has no name, or no number.
    def entry(by_name, by_number, account)
      account.match?(/\A\d+\z/) ? Etc.public_send(by_number, account.to_i) : Etc.public_send(by_name, account)
    rescue ArgumentError, RangeError
      nil
    end

    def number(account, option)
      return account.to_i if account.match?(/\A\d+\z/) && NUMBERS.cover?(account.to_i)

      raise Unknown.new(option, "there is no #{option} #{account}")
    end
  end
end
