# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require "set"

module Runner
  # Runs RuboCop on the files in which it has not found a fault before. The notes about these files are in the user's
  # cache directory, so all checkouts share them. RuboCop's own cache depends on the path of the checkout.
  class Style
    RUBOCOP = %w[bundle exec rubocop].freeze
    # Files that can change what RuboCop finds in another file. Gemfile.lock names the version of RuboCop.
    RULES = %w[.rubocop.yml Gemfile.lock].freeze
    # Notes that no run has used for this many seconds are removed.
    UNUSED = 30 * 24 * 60 * 60

    # directory: for the notes; nil: there is no cache directory.
    def initialize(root = Dir.pwd, directory: Style.directory, rubocop: RUBOCOP)
      @root = root
      @directory = directory
      @rubocop = rubocop
    end

    def self.directory
      home = ENV["XDG_CACHE_HOME"].to_s
      File.join(home.start_with?("/") ? home : File.join(Dir.home, ".cache"), "bontebok", "style")
    rescue ArgumentError # There is no home directory.
      nil
    end

    # Returns true if no file has a fault.
    def call
      files = list
      return false unless files

      clean = noted
      doubtful = files.to_h { |path| [path, digest(path)] }.reject { |_path, digest| clean.include?(digest) }
      puts "#{files.size - doubtful.size} files have not changed since RuboCop found no fault in them"
      passed = doubtful.empty? || system(*@rubocop, *doubtful.keys, chdir: @root)
      note(doubtful.select { |path, digest| digest(path) == digest }.values) if passed
      passed
    end

    private

    # nil: RuboCop has failed.
    def list
      output, status = Open3.capture2(*@rubocop, "--list-target-files", chdir: @root)
      output.lines(chomp: true) if status.success?
    end

    def digest(path)
      file = File.join(@root, path)
      Digest::SHA256.hexdigest([path, File.stat(file).mode, File.binread(file)].join("\0"))
    end

    def noted
      return [] unless @directory && File.exist?(notes)

      File.readlines(notes, chomp: true).to_set
    end

    def note(digests)
      return unless @directory

      FileUtils.mkdir_p(@directory, mode: 0o700)
      File.write(notes, digests.map { |digest| "#{digest}\n" }.join, mode: "a")
      FileUtils.touch(notes)
      Dir.glob("#{@directory}/*").each { |path| FileUtils.rm_f(path) if File.mtime(path) < Time.now - UNUSED }
    rescue SystemCallError => e
      warn "the next run of RuboCop checks all files: #{e.message}"
    end

    def notes
      rules = RULES.map { |name| File.join(@root, name) }.select { |path| File.exist?(path) }
      File.join(@directory, Digest::SHA256.hexdigest(rules.map { |path| File.binread(path) }.join("\0")))
    end
  end
end
