# frozen_string_literal: true

require "digest"
require "etc"
require "open3"
require "rbconfig"
require_relative "changes"

module Runner
  # Everything that can change the result of a group: its files (Changes::TABLE), and the machine.
  class Inputs
    # Variables that change with each shell, and that no test reads. TMPDIR is a new directory in each run.
    HARMLESS = %w[_ OLDPWD SHLVL TERM COLUMNS LINES WINDOWID SSH_CLIENT SSH_CONNECTION SSH_TTY TMPDIR].freeze
    # The versions of all system packages, which are the compilers and all programs that bin/setup installs.
    PACKAGES = "/var/lib/dpkg/status"
    # bin/setup writes them. Their texts name the versions of the gems.
    LOCKS = "{Gemfile.lock,gemfiles/*.lock}"

    # all: the names of the groups that run by default.
    def initialize(all, packages: PACKAGES)
      @all = all
      @packages = packages
      @files = Hash.new { |hash, group| hash[group] = [] }
    end

    # Returns a text that changes with each input of the group. Returns nil if the inputs are not known: this is no git
    # checkout, the system is no Debian, or the group does not run by default.
    def digest(group)
      return unless @all.include?(group)

      read unless @machine
      Digest::SHA256.hexdigest([@machine, *@files[group]].join("\0")) if @files[group].any?
    rescue SystemCallError
      nil
    end

    private

    def read
      list.each do |path|
        text = "#{path} #{File.executable?(path)} #{Digest::SHA256.file(path)}"
        Changes.groups_of(path, @all).each { |group| @files[group] << text }
      end
      @machine = machine
    end

    # Returns the paths of all files that are not ignored. Raises Errno::ENOENT without git.
    def list
      output, status = Open3.capture2("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
      raise Errno::ENOENT unless status.success?

      output.split("\0").uniq.sort.select { |path| File.file?(path) }
    end

    def machine
      [RUBY_DESCRIPTION, RbConfig.ruby, Etc.uname.values, Etc.nprocessors, Process.uid, File.umask,
       Process.getrlimit(:NOFILE), Dir.pwd, ENV.to_h.except(*HARMLESS).sort,
       [@packages, *Dir[LOCKS]].map { |path| Digest::SHA256.file(path).to_s }].inspect
    end
  end
end
