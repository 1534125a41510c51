# frozen_string_literal: true

require_relative "../start_error"
require_relative "../system/error_text"

module Bontebok
  # Redirects standard error and standard output to the configured files. All processes of the server inherit them.
  module LogFiles
    class << self
      # Opens the files. A second call opens them again by name, after a log rotation. Raises StartError.
      #
      # If the workers run as another user, this method also creates the file of the access log. Each worker opens that
      # file itself, so the supervisor must call this method before the workers open their logs again.
      def open(config)
        discard_unread
        steps(config).each { |key, step| config.at(key, &step) }
      end

      # Redirects a standard stream that nobody can read to /dev/null. Called before the configuration file runs, which
      # may print.
      def discard_unread
        [$stdout, $stderr].each { |stream| discard(stream) if unread?(stream) }
      end

      # Opens the files again while the server runs. If a file cannot be opened, the error is logged, the file's stream
      # stays as it is, and the other files are opened.
      def renew(config, log)
        steps(config).each_value do |step|
          step.call
        rescue StartError => e
          log.error(e.message)
        end
      end

      # Returns the files for standard error and standard output of an executed master, whose user may lack the
      # permission to open them. Without a file, the stream of this process is used. Raises StartError.
      def files(config)
        { log: $stderr, stdout: $stdout }.map do |key, stream|
          path = config[key]
          next stream.dup if path.nil? || File.identical?(path, stream)

          explained(path, config.account) { standard(path) || open_without_wait(path, config.account) }
        end
      end

      # Redirects standard error and standard output to the files of .files, which the method closes.
      def take(files)
        files.zip([$stderr, $stdout]) do |file, stream|
          stream.reopen(file).sync = true
          file.close
        end
      end

      # Checks that a file can be opened, and creates no file. Raises StartError.
      def check(path, account)
        explained(path, account) { account.check_append(path) } unless named_by(path)
      end

      private

      def steps(config)
        { log: -> { direct($stderr, config[:log], config.account) },
          stdout: -> { direct($stdout, config[:stdout], config.account) },
          access_log: -> { make_access_log(config[:access_log], config.account) } }
      end

      def direct(stream, path, account)
        return if path.nil?

        # IO#reopen gets an open file and not the path. With a path, IO#reopen would first close the stream, and then
        # fail if the directory is missing. If the path is the stream itself, such as /dev/stderr, it is not opened,
        # because the workers' user may lack the permission.
        explained(path, account) { reopen(stream, path, account) } unless File.identical?(path, stream)
        stream.sync = true
      end

      # The open of a pipe without a reader would wait for one (ENXIO).
      def open_without_wait(path, account)
        account.act { File.open(path, File::WRONLY | File::NONBLOCK, &:close) } if File.pipe?(path)
        account.append(path)
      end

      # A copy of the standard stream that the path names, such as /dev/stdout or a link to it; nil: it names none. A
      # socket cannot be opened by its name. A file that is opened twice has two positions, and one writer would replace
      # what the other has written.
      def standard(path) = named_by(path)&.dup

      def named_by(path) = [$stdout, $stderr].find { |stream| File.identical?(path, stream) }

      # A process that was started without a standard stream gets a pipe without a reader from Ruby. Each write of the
      # application would fail, and so would the request. select(2) shows the missing reader as something to read;
      # IO#wait_readable refuses a stream for writing. A FIFO with a name is no such pipe: its reader can come back.
      # With a timeout of 0, Ruby finds nothing while one of its interrupts is pending. A file that is always readable
      # ends the wait instead.
      def unread?(stream)
        return false unless stream.is_a?(IO) && stream.stat.pipe? && !fifo?(stream)

        File.open(File::NULL) { |readable| IO.select([stream, readable]).first.include?(stream) }
      rescue SystemCallError, IOError
        false
      end

      def fifo?(stream)
        !File.readlink("/proc/self/fd/#{stream.fileno}").start_with?("pipe:")
      rescue SystemCallError
        false # there is no /proc
      end

      # Reopens a new object for the descriptor. IO#reopen of the stream itself would first write the stream's buffer.
      def discard(stream)
        File.open(File::NULL, "w") { |file| IO.for_fd(stream.fileno, "w", autoclose: false).reopen(file) }
        stream.sync = true
      end

      def reopen(stream, path, account)
        file = standard(path) || account.append(path)
        stream.reopen(file)
        file.close
      end

      def make_access_log(path, account)
        return unless account.change? && path.start_with?("/") && !File.exist?(path)

        explained(path, account) { account.append(path).close }
      end

      def explained(path, account)
        yield
      rescue SystemCallError => e
        raise StartError, account.described("cannot write to #{path}: #{ErrorText.of(e, path)}")
      end
    end
  end
end
