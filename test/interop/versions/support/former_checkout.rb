# frozen_string_literal: true

require "fileutils"

module Interop
  # A checkout of a former commit, with its extension built, for tests that run two versions of Bontebok in one server.
  # It stays in tmp/interop/, because the build takes some seconds.
  class FormerCheckout
    HOME = File.join(ROOT, "tmp/interop")
    # The parts that a build and a server need.
    PARTS = %w[bin exe ext lib core/src core/include load/src].freeze
    # Seconds for the build.
    TIMEOUT = 300

    attr_reader :directory

    def initialize(commit)
      @commit = commit
      @directory = File.join(HOME, "bontebok-#{commit}")
    end

    # Returns what git says if the repository has no such commit, as a shallow clone has not; nil: it has the commit.
    def missing
      found = Support::ChildProcess.run("git", "cat-file", "-e", "#{@commit}^{commit}", chdir: ROOT)
      found.output.text unless found.status.success?
    end

    # Makes the checkout if it is missing. bin/setup builds it again if Ruby has changed. Returns the directory.
    def prepare
      FileUtils.mkdir_p(HOME)
      File.open("#{directory}.lock", File::RDWR | File::CREAT) do |lock|
        lock.flock(File::LOCK_EX)
        extract unless File.exist?(directory)
        run("bin/setup", "--build", chdir: directory)
      end
      directory
    end

    private

    # The directory has its name only when it has all files.
    def extract
      unfinished = "#{directory}.new"
      FileUtils.rm_rf(unfinished)
      FileUtils.mkdir(unfinished)
      run("git", "archive", "--output", "#{unfinished}.tar", @commit, *PARTS, chdir: ROOT)
      run("tar", "-x", "-f", "#{unfinished}.tar", "-C", unfinished, chdir: HOME)
      File.unlink("#{unfinished}.tar")
      File.rename(unfinished, directory)
    end

    def run(*command, chdir:)
      child = Support::ChildProcess.run(*command, chdir: chdir, limit: TIMEOUT)
      raise Support::Error, "#{command.join(' ')}:\n#{child.output.text}" unless child.status.success?
    end
  end
end
