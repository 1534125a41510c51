# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require_relative "../build"

module Bench
  # Another revision of this repository, with its extension.
  module Revision
    SOURCES = %w[core ext lib exe bontebok.gemspec].freeze

    module_function

    # Checks the revision out into the directory, which is made, and builds it. Returns the directory. The options of
    # the command, the gems and the applications are those of this checkout.
    def check_out(revision, directory)
      Dir.mkdir(directory)
      status = Open3.pipeline(["git", "-C", Build::ROOT, "archive", revision, *SOURCES], ["tar", "x", "-C", directory])
      abort("no such revision: #{revision}") unless status.all?(&:success?)
      build(directory)
      directory
    end

    def build(directory)
      place = File.join(directory, "ext/bontebok")
      Build.run!(RbConfig.ruby, "extconf.rb", chdir: place)
      Build.run!("make", "-s", chdir: place)
      FileUtils.cp(File.join(place, "bontebok.so"), File.join(directory, "lib/bontebok"))
    end

    private_class_method :build
  end
end
