# frozen_string_literal: true

require_relative "../system/exit_fence"
require_relative "../system/file_name"
require_relative "../start_error"
require_relative "../system/working_directory"

module Bontebok
  # Makes an application of a rackup file, under Rack 2.2 and 3 alike. No middleware is added.
  class AppLoader
    # The application's own fault; #cause is what it raised.
    class Failed < StandardError; end

    # Rack 2's way to give options to the rackup command, which is not what runs here. Rack 3 refuses it.
    OPTION_LINE = /^#\\.*/

    # Loads it in a process that does so later than the server was started: the directory's name may lead elsewhere by
    # now.
    def self.load_anew(path, log)
      WorkingDirectory.enter_again(log)
      new(path, log).load
    end

    def initialize(path, log)
      @path = FileName.text(File.absolute_path(path.b, Dir.pwd.b))
      @log = log
    end

    # Before anything is started: is there a file at all? Raises StartError.
    def check
      File.open(@path) { |file| raise Errno::EISDIR if file.stat.directory? }
    rescue SystemCallError => e
      raise StartError, "cannot read the rackup file #{@path}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # Returns what responds to call. Raises Failed, whatever the application raised: also what is no StandardError, and
    # an exit.
    def load
      require "rack"
      app = ExitFence.keep_forks_out { @path.end_with?(".ru") ? evaluate : constant }
      return app if app.respond_to?(:call)

      raise TypeError, "#{app.class} has no method call: it is no Rack application", [] # no line of it is at fault
    rescue Exception => e # rubocop:disable Lint/RescueException
      raise if signal?(e)

      raise Failed, "the application #{@path} cannot be loaded"
    end

    private

    # Ends the process. What the server is told is no exception here, an Interrupt is the application's own; Ruby would
    # end the process for it with a backtrace of the server.
    def signal?(exception)
      exception.is_a?(SignalException) && !exception.is_a?(Interrupt)
    end

    # Rack would read the file in the locale's encoding, and under Rack 3 fail over an option line.
    def evaluate
      script = File.read(@path, encoding: "bom|utf-8")
      @log.warn("#{@path}: options in a line that begins with #\\ are ignored") if script.sub!(OPTION_LINE, "#")
      Rack::Builder.new_from_string(script.sub(/^__END__\r?\n.*\z/m, ""), @path)
    end

    # Rack 2 returns the application and the options of the option line.
    def constant
      result = Rack::Builder.parse_file(@path)
      result.is_a?(Array) ? result.first : result
    end
  end
end
