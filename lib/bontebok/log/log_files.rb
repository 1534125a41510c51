# frozen_string_literal: true

require_relative "../start_error"

module Bontebok
  # Redirects standard error and standard output to the configured files. Every process of the server inherits them.
  module LogFiles
    class << self
      # Opens the files. When called again, opens the files that now have these names. Raises StartError.
      #
      # If the workers run as another user, this also creates the file of the access log. Each worker opens that file by
      # itself, so the supervisor must open log files again before the workers do.
      def open(config)
        steps(config).each(&:call)
      end

      # Opens the files again in a process that serves. A stream whose file cannot be opened stays as it is, and the
      # error is logged. The other files are opened.
      def renew(config, log)
        steps(config).each do |step|
          step.call
        rescue StartError => e
          log.error(e.message)
        end
      end

      private

      def steps(config)
        [-> { direct($stderr, config[:log], config.account) }, -> { direct($stdout, config[:stdout], config.account) },
         -> { make_access_log(config[:access_log], config.account) }]
      end

      def direct(stream, path, account)
        return if path.nil?

        # IO#reopen does not get the path: it would close the stream before it finds that there is no such directory. A
        # path that is the stream itself, such as /dev/stderr, is left alone: another user could not even open it.
        explained(path, account) { reopen(stream, path, account) } unless File.identical?(path, stream)
        stream.sync = true
      end

      def reopen(stream, path, account)
        file = account.append(path)
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
        message = "cannot write to #{path}: #{SystemCallError.new(nil, e.errno).message}"
        raise StartError, account.described(message)
      end
    end
  end
end
