# frozen_string_literal: true

# A thread that closes connections can be interrupted after each of them. Meanwhile Action Cable removes the closed
# connection from its list. The hook in config/bontebok.rb and config/puma.rb must not skip the next one. Here each
# close waits for this removal, but for 1 s at most.
module SlowClose
  def close(**)
    super.tap { 100.times { server.connections.include?(self) ? sleep(0.01) : break } }
  end
end

Rails.application.config.after_initialize { ActionCable::Connection::Base.prepend(SlowClose) }
