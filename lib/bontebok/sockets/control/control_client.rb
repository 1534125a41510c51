# frozen_string_literal: true

require_relative "control_message"
require_relative "../../system/no_signal"

module Bontebok
  # A connection to the control socket, as the server sees it. Nothing here blocks, because the server's main thread
  # uses it. A client that does not read its messages is disconnected.
  class ControlClient
    attr_reader :to_io

    def initialize(socket)
      @to_io = socket
      @received = +""
    end

    # Reads what has arrived. Returns the request if it is complete. A client that sends something else gets an error.
    def hear
      bytes = @to_io.read_nonblock(ControlMessage::LONGEST, exception: false)
      return hear_end if bytes.nil?
      return if bytes == :wait_readable || @heard

      @received << bytes
      line = @received[/\A.*\n/]
      return check_length(line || @received) unless line && line.bytesize <= ControlMessage::LONGEST

      @heard = true
      ControlMessage.parse(line)
    rescue ControlMessage::Invalid => e
      finish(2, e.message)
    rescue SystemCallError
      close
    end

    # Sends a progress message.
    def say(text) = send_message(text: text)

    # Sends a part of the log.
    def tell(text) = send_message(log: text)

    # Sends a message with copies of descriptors. The connection stays open.
    def pass(descriptors, message)
      @answered = true
      send_message(message, descriptors)
    end

    # Sends the result and closes the connection. status: the exit status for the client. Returns nil.
    def finish(status, text = nil, **more)
      send_message(status: status, text: text, **more)
      close
    end

    # True if the client has sent its request.
    def heard? = @heard

    # True if the client has its answer, and keeps the connection only to see its end.
    def answered? = @answered

    # True if the client will send nothing more, but may read the result.
    def silent? = @silent

    def closed? = @to_io.closed?

    # Returns nil.
    def close
      @to_io.close
    end
    alias disown close

    private

    # The client has closed the connection, or only its sending half. Only in the first case the write fails. A client
    # without a request gets no result.
    def hear_end
      return close unless @heard

      @silent = true
      @to_io.sendmsg_nonblock("", NoSignal::FLAG, exception: false)
      nil
    rescue SystemCallError
      close
    end

    def check_length(text)
      most = ControlMessage::LONGEST
      finish(2, "a request has at most #{most} bytes") if text.bytesize > most
    end

    def send_message(message, descriptors = [])
      return if closed?

      line = ControlMessage.line(message)
      rights = Socket::AncillaryData.unix_rights(*descriptors) if descriptors.any?
      close unless @to_io.sendmsg_nonblock(line, NoSignal::FLAG, nil, *rights, exception: false) == line.bytesize
    rescue SystemCallError, JSON::GeneratorError
      close
    end
  end
end
