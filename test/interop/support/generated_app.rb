# frozen_string_literal: true

require "digest"
require "fileutils"

module Interop
  # A Rails application that `rails new` generates, with the files of a template copied over it. The application stays
  # in tmp/, and its gems stay in vendor/interop/. It is generated again if the template, the scripts or Ruby have
  # changed. A subclass defines NAME (of the application), TEMPLATE (the directory) and OPTIONS (of `rails new`).
  class GeneratedApp
    HOME = File.join(ROOT, "tmp/interop")
    # Options for all applications: they leave out what no test uses.
    COMMON = %w[--skip-test --skip-docker --skip-ci --skip-rubocop --skip-brakeman --skip-dev-gems --skip-keeps
                --skip-git --skip-bundle].freeze
    # Seconds to install all gems, on a machine that has none of them.
    TIMEOUT = 600

    class << self
      # Generates the application if it is missing or out of date. Returns its directory.
      def prepare
        FileUtils.mkdir_p(HOME)
        # The applications share vendor/interop/, so only one process installs gems at a time.
        File.open(File.join(HOME, "rails.lock"), File::RDWR | File::CREAT) do |lock|
          lock.flock(File::LOCK_EX)
          generate unless File.exist?(stamp) && File.read(stamp) == fingerprint
        end
        directory
      end

      # The environment of the process that serves the application.
      def environment
        bundle.merge("RUBYOPT" => [*Support::GemDirectories::COMPILED, "-rbundler/setup"].join(" "))
      end

      def directory
        File.join(HOME, self::NAME)
      end

      private

      def stamp
        File.join(HOME, "#{self::NAME}.stamp")
      end

      def bundle
        { "BUNDLE_GEMFILE" => File.join(directory, "Gemfile"), "BUNDLE_PATH" => File.join(ROOT, "vendor/interop"),
          "BONTEBOK_ROOT" => ROOT, "RUBYOPT" => nil, "RUBYLIB" => nil }
      end

      def generate
        FileUtils.rm_rf([directory, stamp])
        FileUtils.mkdir_p(directory)
        FileUtils.cp(File.join(self::TEMPLATE, "Gemfile"), directory)
        run("bundle", "install", "--quiet")
        run("bundle", "exec", "rails", "new", directory, "--skip", *self::OPTIONS, *COMMON)
        finish
        File.write(stamp, fingerprint)
      end

      # Completes the generated files. A subclass adds its steps.
      def finish
        FileUtils.cp_r(File.join(self::TEMPLATE, "."), directory)
        run("bundle", "exec", "rails", "assets:precompile", "RAILS_ENV" => "production")
      end

      def run(*command, **environment)
        child = Support::ChildProcess.run(*command, env: bundle.merge(environment), chdir: directory, limit: TIMEOUT)
        raise Support::Error, "#{command.join(' ')}:\n#{child.output.text}" unless child.status.success?
      end

      def fingerprint
        files = Dir.glob(File.join(self::TEMPLATE, "**/*")).select { |path| File.file?(path) }.sort
        scripts = %W[generated_app.rb #{self::NAME}_app.rb own_gems.gemfile].map { |name| File.join(__dir__, name) }
        texts = [*scripts.select { |path| File.exist?(path) }, *files].flat_map { |path| [path, File.binread(path)] }
        Digest::SHA256.hexdigest([RUBY_DESCRIPTION, *self::OPTIONS, *texts].join("\0"))
      end
    end
  end
end
