# frozen_string_literal: true

require_relative "../file_name"
require_relative "private_directory"

module Bontebok
  # The places of a control socket outside of the application's directory. The file's name has a hash of the name of the
  # working directory, so each directory has a socket of its own, and a command that runs in the directory finds it. If
  # the name is a link (Capistrano's `current`), it stays the same in each release.
  class ControlPlaces
    # The directory with the runtime directories of services, and that of users.
    SERVICES = "/run"
    # FNV-1a with 64 bits. A hash of Ruby's library would load a gem before the application does.
    BASIS = 0xcbf29ce484222325
    PRIME = 0x100000001b3
    MASK = (1 << 64) - 1
    private_constant :BASIS, :PRIME, :MASK

    # directories  names of the working directory; a server uses the first one
    # user         the number of the option `user`; nil: it is not set
    # env          the environment with the names of runtime directories
    def initialize(directories, user: nil, env: ENV, services: SERVICES, parent: PrivateDirectory::PARENT)
      @names = directories.uniq.map { |directory| name(directory) }
      @user = user
      @uid = user || Process.euid
      @env = env
      @services = services
      @parent = parent
    end

    # The path for a server: in the first directory of the environment that belongs to the server's user, else in /tmp.
    def own
      [*named.select { |directory| usable?(directory) }, PrivateDirectory.new(@uid, parent: @parent).path]
        .map { |directory| "#{directory}/#{@names.first}" }.find { |path| path.bytesize <= FileName::LONGEST_SOCKET }
    end

    # The paths at which a command looks for the server of the directory. RUNTIME_DIRECTORY is set in the service only,
    # and XDG_RUNTIME_DIR only after a login, so the command also looks where these directories usually are. Root also
    # looks in the directories of other users.
    def paths
      directories = [*named, *[@uid, Process.euid].uniq.flat_map { |uid| directories_of(uid) }]
      directories.product(@names).map { |parts| parts.join("/") } | others
    end

    # Whether a command may believe the process that listens at the path. Any user could offer a socket of this name to
    # root, and respond as the server. user: who runs the process.
    def trusted?(path, user)
      [0, @uid, Process.euid].include?(user) || (Process.euid.zero? && roots_choice?(path, user))
    rescue SystemCallError
      false
    end

    # Why the user's own directory in /tmp may not be used, or nil.
    def fault
      PrivateDirectory.new(@uid, parent: @parent).then { |own| own.fault&.then { |fault| "#{own.path}: #{fault}" } }
    end

    private

    def name(directory)
      hash = directory.each_byte.reduce(BASIS) { |sum, byte| ((sum ^ byte) * PRIME) & MASK }
      format("bontebok-%016x.control", hash)
    end

    # systemd separates several directories of a service by colons.
    def named
      lists = [@env["RUNTIME_DIRECTORY"].to_s.split(":"), @env["XDG_RUNTIME_DIR"].to_s]
      lists.flatten.map { |directory| FileName.text(directory) }
           .select { |directory| directory.valid_encoding? && directory.start_with?("/") }
    end

    # The variable may come from the shell of another user (su). With `user`, supervisor and master find the same
    # directory: root's counts, too, if the user can enter it.
    def usable?(directory)
      stat = File.stat(directory)
      stat.directory? && (stat.uid == @uid || (!@user.nil? && stat.uid.zero? && stat.mode.anybits?(0o001)))
    rescue SystemCallError
      false
    end

    def directories_of(uid)
      ["#{@services}/user/#{uid}", PrivateDirectory.new(uid, parent: @parent).path]
    end

    # Files in directories that were not named: of services, and of other users.
    def others
      @names.flat_map do |name|
        Dir.glob(["#{@services}/*/#{name}", "#{@services}/user/*/#{name}", "#{@parent}/bontebok-[0-9]*/#{name}"])
           .map { |path| FileName.text(path) }
      end
    end

    # True for the owner of the working directory, because root has read the configuration file there, and for the user
    # of a service, because root has made the service's directory for this user.
    def roots_choice?(path, user)
      return true if File.stat(".").uid == user

      directory = File.dirname(path)
      File.dirname(directory) == @services && File.stat(directory).uid == user
    end
  end
end
