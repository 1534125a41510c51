# frozen_string_literal: true

require "erb"
require "fileutils"
require "rubygems/package"
require "rubygems/remote_fetcher"
require "stringio"

module Interop
  # The files that `rails new` of Rails 8 and its installers write, as they are generated. Rails 8 needs a newer Ruby
  # than this project, so the gems are unpacked and not loaded, and their templates are evaluated here.
  module RailsTemplates
    HOME = File.join(ROOT, "vendor/interop/templates")
    # { gem => [version, directory of the templates] }
    GEMS = { "railties" => ["8.1.4.1", "lib/rails/generators/rails/app/templates"],
             "jsbundling-rails" => ["1.3.1", "lib/install"],
             "tailwindcss-rails" => ["4.7.0", "lib/install"] }.freeze

    # What a template calls. `rails new shop` without options: nothing is skipped, and there is no Node.
    class Generator
      # without: the parts that are skipped, such as thruster.
      def initialize(without)
        @without = without
      end

      def app_name = "shop"
      def options = Hash.new(false).tap { |none| none.define_singleton_method(:api?) { false } }
      def dockerfile_base_packages = %w[curl sqlite3]
      def dockerfile_build_packages = %w[build-essential git]
      def dockerfile_binfile_fixups = []
      def dockerfile_chown_directories = %w[db log storage tmp]

      def respond_to_missing?(_name, _private = false) = true

      def method_missing(name, *)
        return super unless name.end_with?("?")

        @without.include?(name.to_s.delete_prefix("skip_").delete_suffix("?").to_sym)
      end

      def render(text) = ERB.new(text, trim_mode: "-").result(binding)
    end

    class << self
      # The text of a generated file. path: its name among the templates of the gem.
      def read(path, gem: "railties", without: [])
        text = File.read(File.join(directory(gem), path))
        path.end_with?(".tt") ? Generator.new(without).render(text) : text
      end

      private

      def directory(name)
        version, templates = GEMS.fetch(name)
        home = File.join(HOME, "#{name}-#{version}")
        FileUtils.mkdir_p(HOME)
        # Only one process fetches a gem at a time.
        File.open(File.join(HOME, "fetch.lock"), File::RDWR | File::CREAT) do |lock|
          lock.flock(File::LOCK_EX)
          fetch(home) unless Dir.exist?(home)
        end
        File.join(home, templates)
      end

      # `gem fetch` reads the index of all gems first, which takes minutes.
      def fetch(home)
        uri = URI.join(Gem.sources.first.uri.to_s, "gems/#{File.basename(home)}.gem")
        gem = Gem::RemoteFetcher.fetcher.fetch_path(uri)
        source = Gem::Package::IOSource.new(StringIO.new(gem))
        FileUtils.rm_rf("#{home}.part")
        Gem::Package.new(source).extract_files("#{home}.part")
        File.rename("#{home}.part", home)
      end
    end
  end
end
