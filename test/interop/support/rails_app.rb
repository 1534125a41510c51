# frozen_string_literal: true

require "digest"
require "fileutils"

module Interop
  # A Rails application that `rails new` generates, with the files of test/interop/rails copied over it. The application
  # stays in tmp/, and its gems stay in vendor/. It is generated again if the templates, this file or Ruby have changed.
  class RailsApp
    TEMPLATE = File.join(ROOT, "test/interop/rails")
    HOME = File.join(ROOT, "tmp/interop")
    DIRECTORY = File.join(HOME, "antelopes")
    STAMP = File.join(HOME, "rails.stamp")
    GEMFILE = File.join(DIRECTORY, "Gemfile")
    # These options leave out parts that need a database, a browser or more gems.
    OPTIONS = %w[--minimal --skip-active-record --skip-test --skip-docker --skip-ci --skip-rubocop --skip-brakeman
                 --skip-dev-gems --skip-keeps --skip-git --skip-bundle].freeze
    # Seconds to install all gems, on a machine that has none of them.
    TIMEOUT = 600
    # Seconds to load the application, on a busy machine.
    BOOT_LIMIT = 60
    BUNDLE = { "BUNDLE_GEMFILE" => GEMFILE, "BUNDLE_PATH" => File.join(ROOT, "vendor/bundle"),
               "BONTEBOK_ROOT" => ROOT, "RUBYOPT" => nil, "RUBYLIB" => nil }.freeze

    class << self
      # Generates the application if it is missing or out of date. Returns its directory.
      def prepare
        FileUtils.mkdir_p(HOME)
        File.open(File.join(HOME, "rails.lock"), File::RDWR | File::CREAT) do |lock|
          lock.flock(File::LOCK_EX)
          generate unless File.exist?(STAMP) && File.read(STAMP) == fingerprint
        end
        DIRECTORY
      end

      # The environment of the process that serves the application.
      def environment
        BUNDLE.merge("RUBYOPT" => "-rbundler/setup")
      end

      private

      def generate
        FileUtils.rm_rf([DIRECTORY, STAMP])
        FileUtils.mkdir_p(DIRECTORY)
        FileUtils.cp(File.join(TEMPLATE, "Gemfile"), GEMFILE)
        run("bundle", "install", "--quiet")
        run("bundle", "exec", "rails", "new", DIRECTORY, "--skip", *OPTIONS)
        FileUtils.cp_r(File.join(TEMPLATE, "."), DIRECTORY)
        run("bundle", "exec", "rails", "assets:precompile", "RAILS_ENV" => "production")
        File.write(STAMP, fingerprint)
      end

      def run(*command, **environment)
        child = Support::ChildProcess.run(*command, env: BUNDLE.merge(environment), chdir: DIRECTORY, limit: TIMEOUT)
        raise Support::Error, "#{command.join(' ')}:\n#{child.output.text}" unless child.status.success?
      end

      def fingerprint
        files = Dir.glob(File.join(TEMPLATE, "**/*")).select { |path| File.file?(path) }.sort
        texts = [__FILE__, *files].flat_map { |path| [path, File.binread(path)] }
        Digest::SHA256.hexdigest([RUBY_DESCRIPTION, *texts].join("\0"))
      end
    end
  end
end
