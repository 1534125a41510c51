# frozen_string_literal: true

require_relative "../start_error"

module Bontebok
  # The files that standard error and output go to by configuration. Every process of the server inherits them.
  module LogFiles
    class << self
      # Opens them, or again those that are there now under their names. Raises StartError.
      #
      # By root it also makes the access log's file, which each worker opens by itself: so the supervisor comes first
      # when files are opened anew.
      def open(config)
        steps(config).each(&:call)
      end

      # The same in a process that serves already: what cannot be opened stays what it was, and the others are opened.
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

        # Given the path, reopen would have closed the stream before it finds that there is no such directory. What it
        # is already, /dev/stderr for one, another user could not even open.
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
