# frozen_string_literal: true

require_relative "../../start_error"
require_relative "../error_text"

module Bontebok
  # The directory /tmp/bontebok-UID, for sockets of one user. Anybody can create a file or a link of this name first, so
  # the directory is only used if it belongs to the user, and if nobody else can write to it. The sticky bit of /tmp
  # then keeps others from replacing it.
  class PrivateDirectory
    PARENT = "/tmp"
    MODE = 0o700
    # Modes of directories to which others can write.
    WRITABLE = 0o022
    private_constant :WRITABLE

    # The PrivateDirectory in which a file lies; nil: the file is elsewhere.
    def self.around(path)
      uid = File.dirname(path.b)[%r{\A#{PARENT}/bontebok-(\d+)\z}, 1]
      new(uid.to_i) if uid
    end

    attr_reader :path

    def initialize(uid, parent: PARENT)
      @uid = uid
      @path = "#{parent}/bontebok-#{uid}"
    end

    def missing?
      !File.symlink?(@path) && !File.exist?(@path)
    end

    # Makes the directory if it is missing. Root makes it for another user. Raises StartError.
    def make
      create if missing?
      give if unfinished?
      check
    end

    # Raises StartError if the directory may not be used.
    def check
      raise StartError, "#{@path} is not used: #{fault}" if fault
    end

    # Why the directory may not be used; nil: it may be, or it is missing.
    def fault
      stat = File.lstat(@path)
      return "it is a link" if stat.symlink?
      return "it is not a directory" unless stat.directory?
      return "it belongs to the user #{stat.uid}" unless stat.uid == @uid

      "other users can write to it" unless stat.mode.nobits?(WRITABLE)
    rescue SystemCallError
      nil
    end

    private

    # EEXIST: another server of the user has made it, or somebody else. #check tells.
    def create
      Dir.mkdir(@path, MODE)
    rescue Errno::EEXIST
      nil
    rescue SystemCallError => e
      raise StartError, "cannot make the directory #{@path}: #{ErrorText.of(e)}"
    end

    # True if root has made the directory for another user, and has not given it to the user yet. Another server of root
    # may have ended between the two.
    def unfinished?
      return false unless Process.euid.zero? && @uid.positive?

      stat = File.lstat(@path)
      stat.directory? && stat.owned?
    rescue SystemCallError
      false
    end

    def give
      File.lchown(@uid, nil, @path)
    rescue SystemCallError => e
      raise StartError, "cannot give the directory #{@path} to the user #{@uid}: #{ErrorText.of(e)}"
    end
  end
end
