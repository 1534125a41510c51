# frozen_string_literal: true

require_relative "../system/encodings/source_file"
require_relative "../system/error_text"
require_relative "../system/exit_fence"
require_relative "../system/file_name"
require_relative "../start_error"

module Bontebok
  # Loads the application from a rackup file, with Rack 2.2 and with Rack 3. Adds no middleware. Used by Release.
  class AppLoader
    # Raised if the application cannot be loaded. #cause is the exception that the application raised.
    class Failed < StandardError; end

    # A line with options for the command rackup, which is ignored here. Rack 2 allows it, Rack 3 rejects it.
    OPTION_LINE = /^#\\.*/

    # log: nil if the application is only checked.
    def initialize(path, log)
      @path = FileName.text(File.absolute_path(path.b, Dir.pwd.b))
      @log = log
    end

    # Checks that the file can be read. Raises StartError.
    def check
      File.open(@path) { |file| raise Errno::EISDIR if file.stat.directory? }
    rescue SystemCallError => e
      raise StartError, "cannot read the rackup file #{@path}: #{ErrorText.of(e)}"
    end

    # Checks the syntax of a rackup file, which is not run. Raises StartError.
    def check_syntax
      return unless rackup?

      text = script
      compile(text)
    rescue SyntaxError => e
      raise StartError, e.message unless valid_block?(text)
    rescue ArgumentError => e # the file is not in UTF-8
      raise StartError, "cannot read the rackup file #{@path}: #{e.message}"
    end

    # Returns an object that responds to `call`. Raises Failed for any exception of the application, also for SystemExit
    # and others that are no StandardError.
    def load
      require_rack
      app = ExitFence.keep_forks_out { rackup? ? Rack::Builder.new_from_string(script, @path) : constant }
      return app if app.respond_to?(:call)

      raise TypeError, "#{app.class} does not respond to call: it is no Rack application", [] # []: an empty backtrace
    rescue Exception => e # rubocop:disable Lint/RescueException
      raise if signal?(e)

      raise Failed, "the application #{@path} cannot be loaded"
    end

    private

    # With --disable=gems, Ruby finds only the directories of -I and RUBYLIB.
    def require_rack
      require "rack"
    rescue LoadError
      raise if defined?(Gem)

      raise LoadError, "rack is not found: Ruby runs without RubyGems, so -I or RUBYLIB must name its directory", []
    end

    # True for a signal that must end the process. An Interrupt is none: the server's signal handlers raise nothing, so
    # the application has raised it. If it were passed on, Ruby would print a backtrace of the server.
    def signal?(exception)
      exception.is_a?(SignalException) && !exception.is_a?(Interrupt)
    end

    def rackup? = @path.end_with?(".ru")

    # Reads the file itself, because Rack would use the locale's encoding, and Rack 3 would reject a line of options.
    def script
      text = SourceFile.read(@path)
      @log&.warn("#{@path}: options in a line that begins with #\\ are ignored") if text.sub!(OPTION_LINE, "#")
      text.sub(/^__END__\r?\n.*\z/m, "")
    end

    # Rack 2 evaluates the text in a block, where `next` is valid.
    def valid_block?(text)
      compile("proc {\n#{text}\n}")
      true
    rescue SyntaxError
      false
    end

    # Warnings are for the start.
    def compile(text)
      verbose = $VERBOSE
      $VERBOSE = nil
      RubyVM::InstructionSequence.compile(text, @path, @path)
    ensure
      $VERBOSE = verbose
    end

    # Rack 2 returns [application, options].
    def constant
      result = Rack::Builder.parse_file(@path)
      result.is_a?(Array) ? result.first : result
    end
  end
end
