# frozen_string_literal: true

# The table of solid_cable.
ActiveRecord::Schema[7.2].define(version: 1) do
  create_table "solid_cable_messages" do |table|
    table.binary "channel", limit: 1024, null: false
    table.binary "payload", limit: 536_870_912, null: false
    table.datetime "created_at", null: false
    table.integer "channel_hash", limit: 8, null: false
    table.index ["channel_hash"]
  end
end
