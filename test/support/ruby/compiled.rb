# frozen_string_literal: true

# Ruby processes that tests start require this file first (GemDirectories). It keeps compiled Ruby files, of this
# checkout and of gems, in tmp/compiled/. A server under Rack::Lint then needs 40 % less processor time for its start
# and end. Other implementations of Ruby, and CRuby with flags that change the compiled code, compile as usual.
module Compiled
  ROOT = File.expand_path("../../..", __dir__)
  STORE = File.join(ROOT, "tmp/compiled", "#{RUBY_ENGINE}-#{RUBY_VERSION}-#{RUBY_REVISION}-#{RUBY_PLATFORM}")
  # No files of tests: they are written, loaded once, and removed.
  DIRECTORIES = ["#{ROOT}/lib", "#{ROOT}/vendor", *$LOAD_PATH].map { |path| "#{path}/" }.freeze

  # Ruby calls this method for each file that it loads. It compiles the file itself if the result is nil.
  def load_iseq(path)
    return unless path.start_with?(*DIRECTORIES)

    stored = Compiled.name(path)
    load_from_binary(File.binread(stored))
  rescue Errno::ENOENT, RuntimeError # A machine that crashes can leave an empty file.
    Compiled.store(path, stored)
  rescue SystemCallError
    nil
  end

  class << self
    # The name of the compiled file changes with the file.
    def name(path)
      stat = File.stat(path)
      "#{STORE}#{path}-#{stat.mtime.to_i}.#{stat.mtime.nsec}-#{stat.size}"
    end

    def store(path, stored)
      compiled = RubyVM::InstructionSequence.compile_file(path)
      make_directory(File.dirname(stored))
      temporary = "#{stored}.#{Process.pid}"
      File.binwrite(temporary, compiled.to_binary)
      File.rename(temporary, stored)
      compiled
    rescue SystemCallError, SyntaxError
      nil
    end

    private

    def make_directory(path)
      return if File.directory?(path)

      make_directory(File.dirname(path))
      Dir.mkdir(path)
    rescue Errno::EEXIST
      nil # another process has made it
    end
  end
end

if defined?(RubyVM::InstructionSequence) && !$VERBOSE && !defined?(Coverage) &&
   !RubyVM::InstructionSequence.compile_option[:frozen_string_literal]
  RubyVM::InstructionSequence.singleton_class.prepend(Compiled)
end
