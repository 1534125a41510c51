# frozen_string_literal: true

# A thread that closes connections can be interrupted after each of them. Meanwhile Action Cable removes the closed
# connection from its list. The hook in config/bontebok.rb and config/puma.rb must not skip the next one.
module SlowClose
  def close(**)
    super.tap { sleep 0.02 }
  end
end

Rails.application.config.after_initialize { ActionCable::Connection::Base.prepend(SlowClose) }
